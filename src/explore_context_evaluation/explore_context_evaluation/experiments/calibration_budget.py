"""Ablation: number of transitions and of rollouts of an MPC calibration (the figure of the paper's
supplement).
"""

from __future__ import annotations

import numpy as np

from explore_context_evaluation.drawing import Chart, Series
from explore_context_evaluation.experiments.base import (
    PLANT_LABELS,
    Experiment,
    Figure,
    Results,
    Scope,
    Summary,
)
from explore_context_evaluation.paper import paper_curve
from explore_context_evaluation.statistics import error_curve
from explore_context_evaluation.units import CalibrationRun, Unit
from explore_context_evaluation.verdict import Row, Status, curve_rows, judged, missing_row

TRANSITIONS = {"pendulum": (15, 30, 50), "mountain_car": (20, 50, 100)}
MOST_ROLLOUTS = 3
COLOURS = ("red", "green", "blue")
HORIZONS = np.arange(1, 51)


class CalibrationBudget(Experiment):
    """A calibration of three rollouts is, after its first, the calibration of one: both come from the same
    run.
    """

    def __init__(self, plant: str) -> None:
        self.plant = plant
        self.name = f"{plant}_calibration_budget"
        self.title = f"{PLANT_LABELS[plant]}: how much calibration is enough"
        self.about = (
            "MPC calibration with more and fewer transitions (T) per rollout and with one and three "
            "rollouts (R), whose transitions share one "
            "belief. Dashed: the paper's."
        )

    def units(self, scope: Scope) -> list[Unit]:
        return [unit for n in TRANSITIONS[self.plant] for unit in self._runs(scope, n)]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        if not scope.models(self.plant):
            return {"missing": scope.catalogue.missing(self.plant)}
        if not scope.settings.budget_systems:
            return {"missing": "not run: --budget-systems 0", "not_run": True}
        curves = {}
        for n in TRANSITIONS[self.plant]:
            runs = self._runs(scope, n)
            for rollouts in (1, MOST_ROLLOUTS):
                errors = [results[run]["errors"][rollouts - 1] for run in runs]
                curves[_name(n, rollouts)] = error_curve(errors)
        return {
            "models": [m.name for m in scope.models(self.plant)],
            "systems": scope.settings.budget_systems,
            "planner": scope.settings.budget_planner,
            "curves": curves,
        }

    def rows(self, summary: Summary) -> list[Row]:
        group = f"{PLANT_LABELS[self.plant]}: calibration budget"
        if "missing" in summary:
            status: Status = "not run" if "not_run" in summary else "no model"
            return [
                missing_row(
                    group,
                    "MPC with other budgets, against the paper's same curves",
                    summary["missing"],
                    status,
                )
            ]
        rows = []
        for n in TRANSITIONS[self.plant]:
            for rollouts in (1, MOST_ROLLOUTS):
                claim = (
                    f"{n} transitions × {rollouts} rollout{'s' * (rollouts > 1)}, "
                    "against the paper's same curve"
                )
                paper = paper_curve(f"{self.plant}_calibration_budget_mse", _name(n, rollouts))
                rows += curve_rows(group, claim, summary["curves"][_name(n, rollouts)]["mean"], paper)
        return judged(rows, summary["systems"])

    def figures(self, summary: Summary) -> list[Figure]:
        if "missing" in summary:
            return []
        figures = []
        for rollouts in (1, MOST_ROLLOUTS):
            series = []
            for n, colour in zip(TRANSITIONS[self.plant], COLOURS, strict=True):
                name = _name(n, rollouts)
                series.append(
                    Series(f"{n} T × {rollouts} R", HORIZONS, summary["curves"][name]["mean"], colour)
                )
                paper = paper_curve(f"{self.plant}_calibration_budget_mse", name)
                series.append(
                    Series("paper's" if colour == "blue" else "", HORIZONS, paper, colour, dashed=True)
                )
            title = f"{PLANT_LABELS[self.plant]}: {rollouts} calibration rollout{'s' * (rollouts > 1)}"
            chart = Chart(title, "prediction horizon", "mean squared error", series, log_y=True)
            caption = (
                f"MPC calibration with the planner {summary['planner']}, {summary['systems']} systems, "
                f"{len(summary['models'])} model{'s' * (len(summary['models']) > 1)}."
            )
            figures.append(Figure(f"{self.name}_{rollouts}", chart.svg(), caption))
        return figures

    def _runs(self, scope: Scope, transitions: int) -> list[CalibrationRun]:
        settings = scope.settings
        planner = settings.planner_settings("budget_planner")
        return [
            scope.calibration(
                model, k, "mpc", transitions=transitions, rollouts=MOST_ROLLOUTS, planner=planner
            )
            for model in scope.models(self.plant)
            for k in range(settings.budget_systems)
        ]


def _name(transitions: int, rollouts: int) -> str:
    return f"mpc_{transitions}_transitions_{rollouts}_rollout" + ("s" if rollouts > 1 else "")
