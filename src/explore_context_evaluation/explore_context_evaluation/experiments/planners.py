"""Beyond the paper: MPC calibration with the real-time planner beside the paper's planner, on the same
systems.
"""

from __future__ import annotations

import numpy as np

from explore_context.planning import load_planner_settings
from explore_context_evaluation.drawing import Chart, Series
from explore_context_evaluation.experiments.base import (
    PLANT_LABELS,
    Experiment,
    Figure,
    Results,
    Scope,
    Summary,
    planning_seconds,
)
from explore_context_evaluation.paper import paper_curve
from explore_context_evaluation.statistics import error_curve, rounded
from explore_context_evaluation.units import CalibrationRun, Unit
from explore_context_evaluation.verdict import Row, Status, compare, judged, missing_row

PLANNERS = ("paper", "realtime")
COLOURS = {"paper": "orange", "realtime": "green"}
LABELS = {"paper": "paper's planner", "realtime": "real-time planner"}
HORIZONS = np.arange(1, 51)
# The real-time planner may be this much worse in mean error over horizons 1 to 20 and still count as equal.
TOLERANCE = 1.1


class PlannersSideBySide(Experiment):
    def __init__(self, plant: str) -> None:
        self.plant = plant
        self.name = f"{plant}_planners"
        self.title = f"{PLANT_LABELS[plant]}: the real-time planner beside the paper's"
        self.about = (
            "MPC calibration of the same systems with the paper's cross-entropy method (10 000 candidates, "
            "20 context samples a plan) and with the planner of the robot, here without a deadline "
            "(with one: ./ws bench planning)."
        )

    def units(self, scope: Scope) -> list[Unit]:
        return [run for planner in PLANNERS for run in self._runs(scope, planner)]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        if not scope.models(self.plant):
            return {"missing": scope.catalogue.missing(self.plant)}
        systems = scope.settings.comparison(self.plant)
        if not systems:
            return {
                "missing": f"not run in preset {scope.settings.preset}: minutes per system "
                "(--comparison-systems)",
                "not_run": True,
            }
        summary: Summary = {
            "model": scope.models(self.plant)[0].name,
            "systems": systems,
            "curves": {},
            "final_entropy": {},
        }
        for planner in PLANNERS:
            runs = self._runs(scope, planner)
            summary["curves"][planner] = error_curve([results[run]["errors"][-1] for run in runs])
            summary["final_entropy"][planner] = rounded([results[run]["entropy"][-1] for run in runs])
        return summary

    def timings(self, scope: Scope, results: Results) -> Summary:
        return {
            f"seconds_per_plan_{p}": planning_seconds(runs, results)
            for p in PLANNERS
            if (runs := self._runs(scope, p))
        }

    def rows(self, summary: Summary) -> list[Row]:
        group = f"{PLANT_LABELS[self.plant]}: planners (our own bars)"
        claim = "mean error over horizons 1 to 20, real-time planner against the paper's on the same systems"
        if "missing" in summary:
            status: Status = "not run" if "not_run" in summary else "no model"
            return [missing_row(group, claim, summary["missing"], status)]
        means = {p: float(np.mean(summary["curves"][p]["mean"][:20])) for p in PLANNERS}
        entropy = {p: float(np.mean(summary["final_entropy"][p])) for p in PLANNERS}
        ratio = means["realtime"] / means["paper"]
        note = f"{ratio:.2f} times the error; allowed: {TOLERANCE}"
        rows = [
            compare(group, claim, rounded(means["realtime"]), rounded(TOLERANCE * means["paper"]), note=note),
            compare(
                group,
                "entropy left after calibration, nats, at most 0.5 above that of the paper's planner",
                rounded(entropy["realtime"]),
                rounded(entropy["paper"] + 0.5),
                note=f"paper's planner: {entropy['paper']:.2f}",
            ),
        ]
        return judged(rows, summary["systems"])

    def figures(self, summary: Summary) -> list[Figure]:
        if "missing" in summary:
            return []
        series = [Series(LABELS[p], HORIZONS, summary["curves"][p]["mean"], COLOURS[p]) for p in PLANNERS]
        paper = paper_curve(f"{self.plant}_prediction_mse", "mpc")
        series.append(Series("paper's MPC curve", HORIZONS, paper, "grey", dashed=True))
        title = f"{PLANT_LABELS[self.plant]}: MPC calibration by planner"
        chart = Chart(title, "prediction horizon", "mean squared error", series, log_y=True)
        return [
            Figure(f"{self.name}_error", chart.svg(), f"{summary['systems']} systems, {summary['model']}.")
        ]

    def _runs(self, scope: Scope, planner: str) -> list[CalibrationRun]:
        """With the shipped model alone: this is about the search."""
        return [
            scope.calibration(model, k, "mpc", planner=load_planner_settings(planner))
            for model in scope.models(self.plant)[:1]
            for k in range(scope.settings.comparison(self.plant))
        ]
