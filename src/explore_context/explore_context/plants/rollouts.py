"""Simulate many systems at once: the endless data of training and evaluation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explore_context.plants.base import Array, Plant


@dataclass(frozen=True)
class Rollouts:
    """``observations`` (n, N+1, X), ``actions`` (n, N, U): n rollouts of N transitions."""

    observations: Array
    actions: Array


def simulate(
    plant: Plant, state: Array, actions: Array, context: Array, rng: np.random.Generator
) -> Rollouts:
    """Roll out ``actions`` (n, N, U) from ``state`` (n, S) on systems ``context`` (n, C)."""
    observations = np.empty((actions.shape[1] + 1, len(state), plant.spec.observation_dim))
    observations[0] = plant.observe(state)
    for k in range(actions.shape[1]):
        state = plant.step(state, actions[:, k], context, rng)
        observations[k + 1] = plant.observe(state)
    return Rollouts(observations.swapaxes(0, 1), actions)


def random_rollouts(
    plant: Plant, context: Array, transitions: int, rng: np.random.Generator, mode: str = "training"
) -> Rollouts:
    """One rollout per system with uniform actions from initial states of ``mode``."""
    state = plant.initial_state(mode, rng, len(context))
    return simulate(plant, state, plant.sample_actions(rng, (len(context), transitions)), context, rng)
