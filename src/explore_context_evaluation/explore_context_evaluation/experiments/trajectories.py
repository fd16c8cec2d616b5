"""How calibration rollouts move: the pendulum's angle (figure 5b of the paper) and the car on its terrain
(figure 8).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explore_context.planning.calibration import Scheme
from explore_context.plants.mountain_car import MountainCar, terrain
from explore_context.plants.pendulum import quadrant, wrap_angle
from explore_context_evaluation.drawing.trajectories import car_rollouts, clock, terrains
from explore_context_evaluation.experiments.base import (
    COLOURS,
    SCHEME_LABELS,
    Experiment,
    Figure,
    Results,
    Scope,
    Summary,
)
from explore_context_evaluation.prediction import make_test_system
from explore_context_evaluation.statistics import rounded
from explore_context_evaluation.units import CalibrationRun, Unit
from explore_context_evaluation.verdict import Row, compare, missing_row

SCHEMES: tuple[Scheme, ...] = ("random", "mpc")
SHOWN_ANGLES = 12
SHOWN_TERRAINS = 5
PROFILE_POINTS = 81


class PendulumTrajectories(Experiment):
    name = "pendulum_trajectories"
    title = "Pendulum: where calibration rollouts go"
    about = (
        "Angle over time, from the centre outwards. Nobody told the planner to swing up: "
        "that is simply where the information is."
    )

    def units(self, scope: Scope) -> list[Unit]:
        return [unit for scheme in SCHEMES for unit in _first_model(scope, "pendulum", scheme)]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        if not scope.models("pendulum"):
            return {"missing": scope.catalogue.missing("pendulum")}
        summary: Summary = {"model": scope.models("pendulum")[0].name, "angles": {}, "quadrants_visited": {}}
        for scheme in SCHEMES:
            angles = [results[unit]["states"][0, :, 0] for unit in _first_model(scope, "pendulum", scheme)]
            summary["angles"][scheme] = rounded(wrap_angle(np.array(angles[:SHOWN_ANGLES])))
            summary["quadrants_visited"][scheme] = [quadrants_acted_in(angle) for angle in angles]
        return summary

    def rows(self, summary: Summary) -> list[Row]:
        group, claim = (
            "Pendulum: calibration rollouts",
            "MPC acts in more quadrants than random (mean number of quadrants)",
        )
        if "missing" in summary:
            return [missing_row(group, claim, summary["missing"])]
        visited = {scheme: np.array(counts) for scheme, counts in summary["quadrants_visited"].items()}
        note = "; ".join(
            f"{SCHEME_LABELS[scheme]}: all four on {int((number == 4).sum())} of {len(number)} systems"
            for scheme, number in visited.items()
        )
        return [
            compare(
                group,
                claim,
                rounded(visited["mpc"].mean()),
                rounded(visited["random"].mean()),
                ">",
                note=note,
            )
        ]

    def figures(self, summary: Summary) -> list[Figure]:
        if "missing" in summary:
            return []
        return [
            Figure(
                f"pendulum_angles_{scheme}",
                clock(f"{SCHEME_LABELS[scheme]} calibration", summary["angles"][scheme], COLOURS[scheme]),
                f"{SCHEME_LABELS[scheme]} calibration, {len(summary['angles'][scheme])} systems.",
            )
            for scheme in SCHEMES
        ]


class MountainCarTrajectories(Experiment):
    name = "mountain_car_trajectories"
    title = "Mountain car: terrains and calibration rollouts"
    about = (
        "Sampled terrains, and rollouts on five of them; time runs upwards, from violet to orange. "
        "Random actions stay in the valley."
    )

    def units(self, scope: Scope) -> list[Unit]:
        return [unit for scheme in SCHEMES for unit in _first_model(scope, "mountain_car", scheme)]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        plant = MountainCar()
        x = np.linspace(-1, 1, PROFILE_POINTS)
        contexts = [make_test_system(plant, k, 1, scope.settings.seed).context for k in range(10)]
        summary: Summary = {
            "x": rounded(x),
            "terrains": [rounded(terrain(x[None], context)[0][0]) for context in contexts],
        }
        if not scope.models("mountain_car"):
            return {**summary, "missing": scope.catalogue.missing("mountain_car")}
        summary |= {"model": scope.models("mountain_car")[0].name, "positions": {}, "extent": {}}
        for scheme in SCHEMES:
            paths = [results[unit]["states"][0, :, 0] for unit in _first_model(scope, "mountain_car", scheme)]
            summary["positions"][scheme] = rounded(paths[:SHOWN_TERRAINS])
            summary["extent"][scheme] = rounded([np.ptp(path) for path in paths])
        return summary

    def rows(self, summary: Summary) -> list[Row]:
        group, claim = (
            "Mountain car: calibration rollouts",
            "MPC covers more ground than random (mean extent, m)",
        )
        if "missing" in summary:
            return [missing_row(group, claim, summary["missing"])]
        means = {scheme: rounded(np.mean(values)) for scheme, values in summary["extent"].items()}
        return [compare(group, claim, means["mpc"], means["random"], ">")]

    def figures(self, summary: Summary) -> list[Figure]:
        x, heights = summary["x"], summary["terrains"]
        figures = [Figure("terrains", terrains("Sampled terrains", x, heights), "Ten sampled terrains.")]
        if "missing" not in summary:
            rollouts = {SCHEME_LABELS[scheme]: paths for scheme, paths in summary["positions"].items()}
            shown = heights[: len(summary["positions"]["mpc"])]
            picture = car_rollouts("Calibration rollouts", x, shown, rollouts)
            figures.append(
                Figure("car_rollouts", picture, "Random (top) and MPC (bottom) on the same terrains.")
            )
        return figures


def quadrants_acted_in(angle: NDArray[np.float64]) -> int:
    """Number of quadrants in which an action of the rollout began."""
    return len(np.unique(quadrant(angle[:-1])))


def _first_model(scope: Scope, plant: str, scheme: Scheme) -> list[CalibrationRun]:
    return scope.calibrations(scope.models(plant)[:1], scheme)
