"""Exploration by one who imagines learning: how many pendulums show all four quadrants to a searcher that
knows the physics and the factors of the quadrants seen, and has to learn the others.

Not action sequences are compared but ways to act: push along the motion, but for one stretch against it,
with full torque. An imagined system knows the sign of a factor only after a transition in its quadrant, as
the real one will, and until then keeps its last torque. To react is what an open-loop sequence cannot do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explore_context.plants import Plant
from explore_context.plants.pendulum import MAX_TORQUE, quadrant

Array = NDArray[np.float64]
Seen = NDArray[np.bool_]
Ways = NDArray[np.int64]

_WAYS, _SAMPLES, _LONGEST_BRAKE, _NEAR = 20, 8, 12, 3
# Beside the share of imagined systems with four quadrants: how high they come, how many they see.
_HEIGHT_WEIGHT, _SEEN_WEIGHT = 0.05, 0.02


def explore_learning(plant: Plant, context: Array, start: Array, transitions: int, seed: int) -> Array:
    """Angles (N + 1,) of the pendulum (4,) from the state (2,), planned anew at every step."""
    rng = np.random.default_rng(seed)
    state, seen = start[None], np.zeros(4, bool)
    best: Ways | None = None
    angles = [start[0]]
    for step in range(transitions):
        ways = _ways(rng, transitions - step, best)
        imagined = np.where(seen, context, plant.sample_context(rng, _SAMPLES))  # (S, 4)
        pushes = (-MAX_TORQUE, MAX_TORQUE)
        situation = plant, state[0], imagined, seen, transitions - step
        values = np.stack([_imagine(*situation, push, ways) for push in pushes])
        first, way = np.unravel_index(values.argmax(), values.shape)
        torque, best = pushes[first], ways[way]
        seen[quadrant(state[:, 0])] = True
        state = plant.step(state, np.array([[torque]]), context[None], rng)
        angles.append(state[0, 0])
    return np.array(angles)


def _ways(rng: np.random.Generator, steps: int, last: Ways | None) -> Ways:
    """Stretches against the motion, (W, 2): begin and length. The first has none; half are near ``last``."""
    ways = np.stack([rng.integers(0, steps, _WAYS), rng.integers(0, _LONGEST_BRAKE + 1, _WAYS)], axis=1)
    ways[0] = 0
    if last is not None:
        shifted = last - [1, 0] if last[0] > 0 else last - [0, 1]
        near = slice(1, _WAYS // 2)
        ways[near] = shifted + rng.integers(-_NEAR, _NEAR + 1, ways[near].shape)
        ways[1] = shifted
    return np.maximum(ways, 0)


def _imagine(
    plant: Plant, start: Array, context: Array, seen: Seen, steps: int, first: float, ways: Ways
) -> Array:
    """Value (W,) of acting in each of ``ways`` (W, 2) after the torque ``first``, averaged over the imagined
    systems ``context`` (S, 4).
    """
    rng = np.random.default_rng(0)  # the pendulum has no noise
    samples, rows = len(context), np.arange(len(ways) * len(context))
    factors = np.tile(context, (len(ways), 1))
    begin, length = np.repeat(ways, samples, axis=0).T
    known = np.tile(seen, (len(rows), 1))
    state = np.tile(start, (len(rows), 1))
    torque = np.full(len(rows), first)
    highest = np.full((2, len(rows)), -1.0)
    for step in range(steps):
        here = quadrant(state[:, 0])
        height = np.minimum(np.cos(state[:, 0]), 0.0)  # the horizontal is high enough
        side = (np.sin(state[:, 0]) > 0).astype(int)
        highest[side, rows] = np.maximum(highest[side, rows], height)
        if step:
            along = np.where(state[:, 1] < 0, -1.0, 1.0)
            braking = (step >= begin) & (step < begin + length)
            wanted = MAX_TORQUE * np.where(braking, -along, along) * np.sign(factors[rows, here])
            torque = np.where(known[rows, here], wanted, torque)
        known[rows, here] = True
        state = plant.step(state, torque[:, None], factors, rng)
    value = known.all(axis=1) + _HEIGHT_WEIGHT * highest.sum(axis=0) + _SEEN_WEIGHT * known.sum(axis=1)
    return value.reshape(len(ways), samples).mean(axis=1)
