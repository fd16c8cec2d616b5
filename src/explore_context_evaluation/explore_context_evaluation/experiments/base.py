"""What an experiment is: units of work, a summary of their results, claims to check, and figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explore_context.planning import PlannerSettings, default_calibration
from explore_context.planning.calibration import Scheme
from explore_context_evaluation.models import Catalogue, ModelReference
from explore_context_evaluation.settings import EvaluationSettings
from explore_context_evaluation.units import CalibrationRun, Record, Unit
from explore_context_evaluation.verdict import Row

Summary = dict[str, Any]
Results = Mapping[Unit, Record]

SCHEME_LABELS = {
    "random": "random",
    "open_loop": "open loop",
    "mpc": "MPC",
    "mpc_without_decreasing_variance": "MPC, variance not monotone",
}
COLOURS = {"random": "blue", "open_loop": "orange", "mpc": "green", "mpc_without_decreasing_variance": "red"}
PLANT_LABELS = {"pendulum": "Pendulum", "mountain_car": "Mountain car"}


@dataclass(frozen=True)
class Figure:
    """An inline SVG; ``name`` is unique in the report."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Scope:
    """Settings and models of one evaluation, and the units that several experiments share."""

    settings: EvaluationSettings
    catalogue: Catalogue

    def models(self, plant: str, monotone: bool = True) -> tuple[ModelReference, ...]:
        return self.catalogue.choose(plant, self.settings.models, monotone)

    def planner(self, scheme: str) -> PlannerSettings | None:
        """The search that a calibration of this scheme uses."""
        if scheme == "random":
            return None
        return self.settings.planner_settings("open_loop_planner" if scheme == "open_loop" else "planner")

    def calibration(
        self,
        model: ModelReference,
        system: int,
        scheme: Scheme,
        *,
        transitions: int = 0,
        rollouts: int = 1,
        planner: PlannerSettings | None = None,
    ) -> CalibrationRun:
        """A calibration with the paper's number of transitions (0) and this evaluation's planner (None), if
        not given.
        """
        return CalibrationRun(
            model=model,
            system=system,
            scheme=scheme,
            planner=planner or self.planner(scheme),
            transitions=transitions or default_calibration(model.plant).transitions,
            rollouts=rollouts,
            test_rollouts=self.settings.rollouts,
            seed=self.settings.seed,
        )

    def calibrations(
        self, models: Sequence[ModelReference], scheme: Scheme, systems: int = 0
    ) -> list[CalibrationRun]:
        """The same on all ``systems`` (0: all of this evaluation) with all ``models``."""
        return [
            self.calibration(m, k, scheme) for m in models for k in range(systems or self.settings.systems)
        ]


class Experiment(ABC):
    """One figure or table. ``summarise`` returns plain numbers: results.json holds them, claims and figures
    come from them alone.

    A summary with the key ``missing`` says why there is nothing to show.
    """

    name: str
    title: str
    about: str

    @abstractmethod
    def units(self, scope: Scope) -> list[Unit]:
        """The work; empty if there is no model for it."""

    @abstractmethod
    def summarise(self, scope: Scope, results: Results) -> Summary: ...

    def rows(self, summary: Summary) -> list[Row]:
        """Claims of the verdict."""
        del summary
        return []

    def figures(self, summary: Summary) -> list[Figure]:
        del summary
        return []

    def timings(self, scope: Scope, results: Results) -> Summary:
        """Numbers that depend on the mood of the machine: kept apart, so that the rest is always the same."""
        del scope, results
        return {}


def planning_seconds(units: Sequence[Unit], results: Results) -> dict[str, float]:
    """Time of one plan over all planned steps of ``units``."""
    seconds: NDArray[np.float64] = np.concatenate([results[unit]["seconds"] for unit in units])
    return {
        "median": float(f"{np.median(seconds):.4g}"),
        "q95": float(f"{np.quantile(seconds, 0.95):.4g}"),
        "max": float(f"{seconds.max():.4g}"),
    }
