"""Whole calibrations and control episodes on simulated plants, without ROS: for benchmarks, evaluation and
tests.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explore_context.model import Belief
from explore_context.planning.calibration import Calibration
from explore_context.planning.plan import Plan
from explore_context.plants import Plant

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SimulatedCalibration:
    """R rollouts of N transitions; ``beliefs``: the first one and one after each transition."""

    observations: Array  # (R, N + 1, X)
    actions: Array  # (R, N, U)
    states: Array  # (R, N + 1, S), simulation states
    beliefs: tuple[Belief, ...]
    plans: tuple[Plan, ...]
    seconds: Array  # (R N,) time of every call of next_action

    @property
    def belief(self) -> Belief:
        return self.beliefs[-1]


def calibrate_simulated(
    plant: Plant,
    context: Array,
    calibration: Calibration,
    rng: np.random.Generator,
    deadline: float | None = None,
) -> SimulatedCalibration:
    """Run ``calibration`` to its end on the system ``context`` (C,).

    ``deadline``: seconds allowed per plan. ``rng``: initial states and process noise.
    """
    system = np.asarray(context, np.float64).reshape(1, -1)
    states: list[list[Array]] = []
    actions: list[list[Array]] = []
    plans, seconds, beliefs = [], [], [calibration.belief]
    while True:
        state = plant.initial_state("calibration", rng, 1)
        states.append([state[0]])
        actions.append([])
        while not calibration.rollout_done:
            observation = plant.observe(state)[0]
            started = time.monotonic()
            plan = calibration.next_action(observation, None if deadline is None else started + deadline)
            seconds.append(time.monotonic() - started)
            action = plan.actions[:1].astype(np.float64)
            state = plant.step(state, action, system, rng)
            beliefs.append(calibration.observe(observation, action[0], plant.observe(state)[0]))
            plans.append(plan)
            states[-1].append(state[0])
            actions[-1].append(action[0])
        if calibration.done:
            break
        calibration.begin_rollout()
    all_states = np.array(states)
    observations = np.stack([plant.observe(rollout) for rollout in all_states])
    return SimulatedCalibration(
        observations, np.array(actions), all_states, tuple(beliefs), tuple(plans), np.array(seconds)
    )


@dataclass(frozen=True)
class SimulatedEpisode:
    """One control episode of N decisions."""

    observations: Array  # (N + 1, X)
    actions: Array  # (N, U)
    rewards: Array  # (N,)
    seconds: Array  # (N,)

    @property
    def return_(self) -> float:
        """Sum of rewards."""
        return float(self.rewards.sum())


class Controller(Protocol):
    """What an episode asks of ``SwingUp``, and of a baseline in its place."""

    def reset(self) -> None: ...

    def next_action(self, state: ArrayLike, belief: Belief, deadline: float | None = None) -> Plan: ...


def swing_up_simulated(
    plant: Plant,
    context: Array,
    swing_up: Controller,
    belief: Belief,
    rng: np.random.Generator,
    decisions: int = 50,
) -> SimulatedEpisode:
    """Swing up from hanging down (section 4.4: 50 decisions) with a calibrated belief."""
    system = np.asarray(context, np.float64).reshape(1, -1)
    swing_up.reset()
    state = plant.initial_state("calibration", rng, 1)
    observations, actions, rewards, seconds = [plant.observe(state)[0]], [], [], []
    for _ in range(decisions):
        started = time.monotonic()
        plan = swing_up.next_action(observations[-1], belief)
        seconds.append(time.monotonic() - started)
        action = plan.actions[:1].astype(np.float64)
        rewards.append(plant.reward(state, action, system)[0])
        state = plant.step(state, action, system, rng)
        actions.append(action[0])
        observations.append(plant.observe(state)[0])
    return SimulatedEpisode(np.array(observations), np.array(actions), np.array(rewards), np.array(seconds))
