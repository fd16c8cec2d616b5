"""Are the real-time planner's plans as good as the paper's?

Whole calibrations of the same systems with the same seeds, and plans from the same states.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from explore_context.model import Belief, ContextModel
from explore_context.planning import (
    Calibration,
    CalibrationSettings,
    ExecutionSettings,
    ExpectedInformationGain,
    Objective,
    Plan,
    Planner,
)
from explore_context.planning.simulated import SimulatedCalibration, calibrate_simulated
from explore_context.plants import Plant
from explore_context_evaluation.benchmarks.planning_others import installed_optimisers
from explore_context_evaluation.prediction import TestSystem, make_test_systems, prediction_errors

Floats = NDArray[np.floating]
T = TypeVar("T")

_SEED = 4_000
# Not the evaluation's systems: planners are tuned with this bench, and a test must not have been tuned on.
_SYSTEM_SEED = 5_000_000
_FRESH_SAMPLES = 128
_ROLLOUTS = 20
_EVERY = 5  # steps between states at which plans are compared


@dataclass(frozen=True)
class Outcome:
    """Whole calibrations with one planner, one entry per system."""

    runs: list[SimulatedCalibration]
    errors: Floats  # (systems, 50): squared prediction error by horizon

    @property
    def entropy(self) -> Floats:
        return np.array([run.belief.entropy for run in self.runs])

    @property
    def milliseconds(self) -> Floats:
        """Of every plan of every system."""
        return 1e3 * np.concatenate([run.seconds for run in self.runs])

    @property
    def cut_short(self) -> float:
        """Share of the plans that a deadline ended before their last population."""
        return float(np.mean([not plan.finished for run in self.runs for plan in run.plans]))


@dataclass(frozen=True)
class Bench:
    """What is measured on: a model, its plant, the paper's calibration of it and the threads used."""

    model: ContextModel
    plant: Plant
    settings: CalibrationSettings
    execution: ExecutionSettings

    def test_systems(self, number: int) -> list[TestSystem]:
        return make_test_systems(self.plant, number, _ROLLOUTS, _SYSTEM_SEED)

    def calibrate(
        self, planner: Planner, systems: list[TestSystem], title: str, deadline: float | None = None
    ) -> Outcome:
        """MPC calibrations; the seed of a system is the same for every planner. ``deadline``: seconds per
        plan."""
        runs = []
        for system in progress(systems, title):
            seed = [_SEED, system.index]
            calibration = Calibration(
                self.model, self.settings, planner, _SEED + system.index, execution=self.execution
            )
            rng = np.random.default_rng(seed)
            runs.append(calibrate_simulated(self.plant, system.context[0], calibration, rng, deadline))
        errors = [
            prediction_errors(self.model, system, run.belief).mean(axis=0)
            for system, run in zip(systems, runs, strict=True)
        ]
        return Outcome(runs, np.array(errors))

    def situations(self, outcome: Outcome) -> Iterator[Situation]:
        """States and beliefs that a planner met, and its plans there."""
        gain = ExpectedInformationGain(self.model, self.execution)
        for run in outcome.runs:
            for step in range(0, self.settings.transitions, _EVERY):
                yield Situation(gain, run.observations[0, step], run.beliefs[step], run.plans[step], step)


@dataclass(frozen=True)
class Situation:
    """A state and a belief in the middle of a calibration, and the plan that was made there."""

    gain: ExpectedInformationGain
    state: Floats
    belief: Belief
    executed: Plan
    step: int

    @property
    def horizon(self) -> int:
        return len(self.executed.actions)

    def objective(self, planner: Planner, rng: np.random.Generator) -> Objective:
        """With the number and kind of context samples that ``planner`` wants."""
        finalist = self._samples(planner, planner.finalist_samples, rng) if planner.finalist_samples else None
        return self.gain.bind(self.state, self.belief, self._samples(planner, planner.samples, rng), finalist)

    def judge(self, plans: list[Floats]) -> Floats:
        """Expected gain of plans under many fresh context samples, the same for all, nats."""
        fresh = self.belief.sample(np.random.default_rng([_SEED, 1, self.step]), _FRESH_SAMPLES)
        return self.gain.bind(self.state, self.belief, fresh)(np.stack(plans))

    def _samples(self, planner: Planner, number: int, rng: np.random.Generator) -> Floats:
        return self.belief.mean + self.belief.std * planner.draw(rng, number, len(self.belief.mean))


def compare_plans(
    situations: list[Situation], paper: Planner, realtime: Planner
) -> dict[str, dict[str, float]]:
    """Mean gain (nats) and milliseconds per plan: real-time plans as executed, and searches anew."""
    gains: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    others = installed_optimisers()
    for index, situation in enumerate(progress(situations, "plans from the same states")):
        plans = {"real-time, as executed": (situation.executed.actions, situation.executed.seconds)}
        budget = situation.executed.evaluations
        for name, planner in (("paper", paper), ("real-time, no warm start", realtime)):
            rng = np.random.default_rng([_SEED, 2, index])
            planner.reset()
            plan = planner.plan(situation.objective(planner, rng), situation.horizon, rng)
            plans[name] = plan.actions, plan.seconds
        for name, optimise in others.items():
            rng = np.random.default_rng([_SEED, 2, index])
            objective = situation.objective(realtime, rng)
            begin = time.monotonic()
            actions = optimise(objective, situation.horizon, paper.low, paper.high, budget, index)
            plans[f"{name}, no warm start"] = actions, time.monotonic() - begin
        for name, score in zip(plans, situation.judge([p[0] for p in plans.values()]), strict=True):
            gains.setdefault(name, []).append(float(score))
            times.setdefault(name, []).append(1e3 * plans[name][1])
    return {
        name: {
            "gain": float(np.mean(gains[name])),
            "gain_ratio": float(np.sum(gains[name]) / np.sum(gains["paper"])),
            "milliseconds": float(np.median(times[name])),
        }
        for name in gains
    }


def paired(first: Floats, second: Floats) -> dict[str, float]:
    """Means, mean difference second - first and its standard error; not worse: within two of them."""
    difference = second - first
    error = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else 0.0
    mean = float(difference.mean())
    return {
        "paper": float(first.mean()),
        "realtime": float(second.mean()),
        "difference": mean,
        "standard_error": error,
        "not_worse": float(mean <= 2 * error),
    }


def progress(items: Sequence[T], title: str) -> Iterable[T]:
    shown: Iterable[T] = tqdm(items, desc=title, file=sys.stderr, leave=False)
    return shown
