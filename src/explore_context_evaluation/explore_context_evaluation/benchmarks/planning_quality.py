"""Are the real-time planner's plans as good as the paper's?

Whole calibrations of the same systems with the same seeds, and plans from the same states.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
    PaperPlannerSettings,
    Plan,
    Planner,
    PlannerSettings,
    make_planner,
)
from explore_context.planning.simulated import SimulatedCalibration, calibrate_simulated
from explore_context.plants import Plant
from explore_context_evaluation.benchmarks.planning_others import installed_optimisers
from explore_context_evaluation.benchmarks.planning_reference import kept_calibration
from explore_context_evaluation.prediction import TestSystem, make_test_systems, prediction_errors

Floats = NDArray[np.floating]
T = TypeVar("T")

_SEED = 4_000
# Not the evaluation's systems: planners are tuned with this bench, and a test must not have been tuned on.
_SYSTEM_SEED = 5_000_000
_FRESH_SAMPLES = 128
_ROLLOUTS = 20


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

    def first(self, number: int) -> Outcome:
        return Outcome(self.runs[:number], self.errors[:number])


@dataclass(frozen=True)
class Bench:
    """What is measured on: a model, its plant, the paper's calibration of it and the threads used."""

    model: ContextModel
    plant: Plant
    settings: CalibrationSettings
    execution: ExecutionSettings

    def test_systems(self, number: int) -> list[TestSystem]:
        return make_test_systems(self.plant, number, _ROLLOUTS, _SYSTEM_SEED)

    def planner(self, settings: PlannerSettings) -> Planner:
        return make_planner(settings, self.plant.spec.action_low, self.plant.spec.action_high)

    def calibrate(
        self, settings: PlannerSettings, systems: list[TestSystem], title: str, deadline: float | None = None
    ) -> Outcome:
        """MPC calibrations; the seed of a system is the same for every planner. ``deadline``: seconds per
        plan. Those with the paper's planner are kept on disk.
        """
        runs = []
        for system in progress(systems, title):
            work = partial(self._calibrate, settings, system, deadline)
            if isinstance(settings, PaperPlannerSettings):
                key = (self.model.model_hash, self.settings, settings, _SYSTEM_SEED, _SEED, system.index)
                runs.append(kept_calibration(work, *key))
            else:
                runs.append(work())
        errors = [
            prediction_errors(self.model, system, run.belief).mean(axis=0)
            for system, run in zip(systems, runs, strict=True)
        ]
        return Outcome(runs, np.array(errors))

    def _calibrate(
        self, settings: PlannerSettings, system: TestSystem, deadline: float | None
    ) -> SimulatedCalibration:
        planner, seed = self.planner(settings), _SEED + system.index
        calibration = Calibration(self.model, self.settings, planner, seed, execution=self.execution)
        rng = np.random.default_rng([_SEED, system.index])
        return calibrate_simulated(self.plant, system.context[0], calibration, rng, deadline)

    def situations(self, run: SimulatedCalibration) -> Iterator[Situation]:
        """States and beliefs that a planner met in a calibration of one rollout, and its plans there; but for
        the last, of a single action, which other libraries' coloured noise cannot do.
        """
        gain = ExpectedInformationGain(self.model, self.execution)
        for step, plan in enumerate(run.plans[:-1]):
            left = self.settings.transitions - step if self.settings.reacts else 0
            yield Situation(gain, run.observations[0, step], run.beliefs[step], plan, step, left)


@dataclass(frozen=True)
class Situation:
    """A state and a belief in the middle of a calibration, and the plan that was made there."""

    gain: ExpectedInformationGain
    state: Floats
    belief: Belief
    executed: Plan
    step: int
    remaining: int  # transitions for which one can still react

    @property
    def horizon(self) -> int:
        return len(self.executed.actions)

    def objective(self, planner: Planner, rng: np.random.Generator) -> Objective:
        """With the number and kind of context samples that ``planner`` wants."""
        finalist = self._samples(planner, planner.finalist_samples, rng) if planner.finalist_samples else None
        samples = self._samples(planner, planner.samples, rng)
        return self.gain.bind(self.state, self.belief, samples, finalist, self.remaining)

    def judge(self, plans: list[Floats]) -> Floats:
        """Expected gain of plans under many fresh context samples, the same for all, nats."""
        fresh = self.belief.sample(np.random.default_rng([_SEED, 1, self.step]), _FRESH_SAMPLES)
        return self.gain.bind(self.state, self.belief, fresh)(np.stack(plans))

    def _samples(self, planner: Planner, number: int, rng: np.random.Generator) -> Floats:
        return self.belief.mean + self.belief.std * planner.draw(rng, number, len(self.belief.mean))


def compare_plans(
    bench: Bench, runs: list[SimulatedCalibration], realtime: PlannerSettings, deadline: float | None
) -> dict[str, dict[str, float]]:
    """Mean gain (nats) and milliseconds per plan at every step of the paper planner's calibrations ``runs``.

    The real-time planner comes along: it starts from its plan of the step before, though another action was
    executed than it had planned, which is harder than in a calibration of its own.
    """
    gains: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    others, along, anew = installed_optimisers(), bench.planner(realtime), bench.planner(realtime)
    for index, run in enumerate(progress(runs, "plans from the same states")):
        along.reset()
        for situation in bench.situations(run):
            seed = [_SEED, 2, index, situation.step]
            plans = {"paper": (situation.executed.actions, situation.executed.seconds)}
            anew.reset()
            budget = 0
            for name, planner in (("real-time", along), ("real-time, no warm start", anew)):
                rng = np.random.default_rng(seed)
                objective = situation.objective(planner, rng)
                until = None if deadline is None else time.monotonic() + deadline
                plan = planner.plan(objective, situation.horizon, rng, until)
                plans[name] = plan.actions, plan.seconds
                budget = budget or plan.evaluations
            along.advance()
            for name, optimise in others.items():
                objective = situation.objective(anew, np.random.default_rng(seed))
                begin = time.monotonic()
                actions = optimise(objective, situation.horizon, anew.low, anew.high, budget, situation.step)
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
