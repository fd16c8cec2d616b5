"""Exploration: how many pendulums show all four quadrants, against swings that need no planning, and what the
unseen ones cost.

Thirty transitions from hanging down are too few for a weak motor, whoever commands it. So the planned
calibrations stand beside pumping (full torque along the motion), once with the factors known, once with
signs learned on the way, and beside two searches on the simulator: one that has to learn the factors and
imagines doing so, one that knows them: what is possible, at least, for both; and the model's error beside
that of the simulator itself with every unseen factor averaged over its prior: nobody
predicts better without having been there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explore_context.model import ContextModel, ModelError, SessionSettings
from explore_context.planning import (
    ExecutionSettings,
    default_calibration,
    load_planner_settings,
)
from explore_context.plants import Plant, get_plant
from explore_context.plants.pendulum import MAX_TORQUE, quadrant
from explore_context_evaluation.benchmarks.exploration_learner import explore_learning
from explore_context_evaluation.benchmarks.planning_quality import Bench, Outcome, progress
from explore_context_evaluation.paths import model_folder
from explore_context_evaluation.prediction import TestSystem

Array = NDArray[np.float64]

HORIZONS = (1, 5, 10, 20)
_PRIOR_SAMPLES = 64
# Of the search with known factors.
_CANDIDATES, _ELITES, _ITERATIONS, _LEAST_STD, _TRIES = 2000, 100, 25, 0.05, 4


def seen_quadrants(angles: Array) -> NDArray[np.bool_]:
    """Which quadrants a transition began in: angles (n, N + 1) -> (n, 4)."""
    return np.stack([(quadrant(angles[:, :-1]) == q).any(axis=1) for q in range(4)], axis=1)


def pump(plant: Plant, context: Array, start: Array, transitions: int, knows: bool) -> Array:
    """Angles (n, N + 1) of pendulums (n, 4) from states (n, 2) with full torque along the motion.

    Without knowledge, the sign of a factor is known after one transition that began in its quadrant; until
    then the last torque is kept.
    """
    rows, rng = np.arange(len(start)), np.random.default_rng(0)
    known = np.full((len(start), 4), knows)
    state, torque, angles = start, np.full(len(start), MAX_TORQUE), [start[:, 0]]
    for step in range(transitions):
        here = quadrant(state[:, 0])
        along = np.where(state[:, 1] < 0, -1.0, 1.0) if step else np.ones(len(start))
        helping = MAX_TORQUE * along * np.sign(context[rows, here])
        torque = np.where(known[rows, here], helping, torque)
        known[rows, here] = True
        state = plant.step(state, torque[:, None], context, rng)
        angles.append(state[:, 0])
    return np.stack(angles, axis=1)


def swing_everywhere(plant: Plant, context: Array, start: Array, transitions: int, seed: int) -> Array:
    """Angles (N + 1,) of the pendulum (4,) from the state (2,) with the torques, found by the cross-entropy
    method on the simulator, that show most quadrants and come highest on both sides.
    """
    rng = np.random.default_rng(seed)
    mean, std = np.zeros(transitions), np.full(transitions, MAX_TORQUE)
    contexts, starts = np.tile(context, (_CANDIDATES, 1)), np.tile(start, (_CANDIDATES, 1))
    best, found = -np.inf, np.empty(0)
    for _ in range(_ITERATIONS):
        noise = rng.standard_normal((_CANDIDATES, transitions))
        torque = np.clip(mean + std * noise, -MAX_TORQUE, MAX_TORQUE)
        states = [starts]
        for step in range(transitions):
            states.append(plant.step(states[-1], torque[:, step, None], contexts, rng))
        angles = np.stack(states)[:, :, 0].T
        seen = seen_quadrants(angles).sum(axis=1)
        height = np.minimum(np.cos(angles), 0.0)  # the horizontal is high enough
        right = np.sin(angles) > 0
        sides = [np.where(side, height, -1.0).max(axis=1) for side in (right, ~right)]
        score = 10.0 * seen + sides[0] + sides[1]
        order = np.argsort(-score)
        if score[order[0]] > best:
            best, found = score[order[0]], angles[order[0]]
        if seen[order[0]] == 4:
            break
        elites = torque[order[:_ELITES]]
        mean, std = elites.mean(axis=0), elites.std(axis=0) + _LEAST_STD
    return found


def best_error(plant: Plant, system: TestSystem, seen: NDArray[np.bool_]) -> Array:
    """Squared error by horizon (50,) of the expected state: seen factors exact, others as in the prior."""
    rng = np.random.default_rng([0, system.index])
    context = np.where(seen, system.context, plant.sample_context(rng, _PRIOR_SAMPLES))  # (P, 4)
    rollouts, first = len(system.actions), system.observations[:, 0]
    state = np.stack([np.arctan2(first[:, 1], first[:, 0]), first[:, 2]], axis=1)
    state = np.tile(state, (_PRIOR_SAMPLES, 1))
    context = np.repeat(context, rollouts, axis=0)
    errors = []
    for step in range(system.actions.shape[1]):
        action = np.tile(system.actions[:, step], (_PRIOR_SAMPLES, 1))
        state = plant.step(state, action, context, rng)
        expected = plant.observe(state).reshape(_PRIOR_SAMPLES, rollouts, -1).mean(axis=0)
        errors.append(((expected - system.observations[:, step + 1]) ** 2).mean())
    return np.array(errors)


@dataclass(frozen=True)
class Exploration:
    """``seen`` (n, 4) by title; errors (n, 50) after the planned calibrations and the best possible ones."""

    seen: dict[str, NDArray[np.bool_]]
    model_errors: NDArray[np.floating]
    best_errors: Array


PLANNED = "planned (MPC)"


def explore(bench: Bench, systems: list[TestSystem], outcome: Outcome) -> Exploration:
    states = np.stack([run.states[0] for run in outcome.runs])  # (n, N + 1, 2)
    context = np.concatenate([system.context for system in systems])
    seen = {PLANNED: seen_quadrants(states[:, :, 0])}
    for title, knows in (("pumping, signs learned on the way", False), ("pumping, factors known", True)):
        angles = pump(bench.plant, context, states[:, 0], bench.settings.transitions, knows)
        seen[title] = seen_quadrants(angles)
    learned = [
        explore_learning(bench.plant, context[k], states[k, 0], bench.settings.transitions, k)
        for k in progress(range(len(systems)), "search that imagines learning")
    ]
    seen["search, factors learned on the way"] = seen_quadrants(np.stack(learned))
    searched = []
    for k in progress(range(len(systems)), "search with known factors"):
        arguments = bench.plant, context[k], states[k, 0], bench.settings.transitions
        tries = (swing_everywhere(*arguments, seed) for seed in range(_TRIES))
        searched.append(max(tries, key=lambda angles: seen_quadrants(angles[None]).sum()))
    seen["search, factors known"] = seen_quadrants(np.stack(searched))
    best = [best_error(bench.plant, s, w) for s, w in zip(systems, seen[PLANNED], strict=True)]
    return Exploration(seen, outcome.errors, np.array(best))


def print_table(found: Exploration, transitions: int) -> None:
    print(f"\n{len(found.model_errors)} pendulums, {transitions} transitions from hanging down")
    print(f"{'systems with quadrants seen':<44}{'two':>8}{'three':>8}{'four':>8}")
    for title, seen in found.seen.items():
        counts = np.bincount(seen.sum(axis=1), minlength=5)
        print(f"{title:<44}" + "".join(f"{count:>8}" for count in counts[2:]))
    print(f"\n{'error after the planned ones, at horizon':<44}" + "".join(f"{h:>10}" for h in HORIZONS))
    four = found.seen[PLANNED].all(axis=1)
    columns = np.array(HORIZONS) - 1
    for title, rows, errors in (
        (f"four quadrants seen ({four.sum()})", four, found.model_errors),
        (f"fewer ({(~four).sum()})", ~four, found.model_errors),
        ("fewer: best possible", ~four, found.best_errors),
    ):
        if rows.any():
            values = errors[rows][:, columns].mean(axis=0)
            print(f"{title:<44}" + "".join(f"{value:>10.2g}" for value in values))


def main(argv: Sequence[str]) -> int:
    p = argparse.ArgumentParser(prog="bench exploration", description=(__doc__ or "").split("\n\n")[0])
    p.add_argument("--model", type=Path, help="model folder (default: models/pendulum)")
    p.add_argument("--systems", type=int, default=100)
    p.add_argument("--planner", default="realtime", help="planner settings: a name or a file")
    options = p.parse_args(argv)
    if options.systems < 1:
        p.error("--systems must be at least 1")
    plant = get_plant("pendulum")
    try:
        folder = options.model or model_folder("pendulum")
        model = ContextModel.load(folder, SessionSettings("cpu"), plant.spec)
        settings = load_planner_settings(options.planner)
    except (ModelError, ValueError) as error:
        print(f"bench exploration: {error}", file=sys.stderr)
        return 1
    bench = Bench(model, plant, default_calibration("pendulum"), ExecutionSettings())
    systems = bench.test_systems(options.systems)
    outcome = bench.calibrate(settings, systems, "calibrations")
    print_table(explore(bench, systems, outcome), bench.settings.transitions)
    return 0
