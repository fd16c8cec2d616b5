"""Prediction error over horizons 1..50 after random, open-loop and MPC calibration (figures 4a and 4b of the
paper).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explore_context.planning import default_calibration
from explore_context_evaluation.drawing import Chart, Series
from explore_context_evaluation.experiments.base import (
    COLOURS,
    PLANT_LABELS,
    SCHEME_LABELS,
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
from explore_context_evaluation.verdict import Row, compare, curve_rows, missing_row, ordering_row

NOT_MONOTONE = "mpc_without_decreasing_variance"
HORIZONS = np.arange(1, 51)


class PlantPrediction(Experiment):
    """The four curves of one plant."""

    def __init__(self, plant: str) -> None:
        self.plant = plant
        self.name = f"{plant}_prediction"
        self.title = f"{PLANT_LABELS[plant]}: prediction error after calibration"
        self.about = (
            f"Mean squared error of open-loop predictions on unseen systems, after a calibration of "
            f"{default_calibration(plant).transitions} transitions. Solid: ours, with the 20 % to 80 % "
            f"range of rollouts for random and MPC; "
            f"dashed: the paper's."
        )

    def units(self, scope: Scope) -> list[Unit]:
        return [unit for units in self._curves(scope).values() for unit in units]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        if not scope.models(self.plant):
            return {"missing": scope.catalogue.missing(self.plant)}
        curves, entropies, missing = {}, {}, {}
        for name, units in self._curves(scope).items():
            if not units:
                missing[name] = scope.catalogue.missing(self.plant, monotone=False)
                continue
            curves[name] = error_curve([results[unit]["errors"][-1] for unit in units])
            along = np.array([results[unit]["entropy"] for unit in units])
            entropies[name] = rounded(along.mean(axis=0))
        return {
            "transitions": default_calibration(self.plant).transitions,
            "models": [m.name for m in scope.models(self.plant)],
            "models_not_monotone": [m.name for m in scope.models(self.plant, monotone=False)],
            "training_steps": {
                name: [m.step for m in scope.models(self.plant, monotone)]
                for name, monotone in (("mpc", True), (NOT_MONOTONE, False))
            },
            "planner": scope.settings.planner,
            "open_loop_planner": scope.settings.open_loop_planner,
            "curves": curves,
            "entropy_along_calibration": entropies,
            "without_model": missing,
        }

    def timings(self, scope: Scope, results: Results) -> Summary:
        mpc = self._curves(scope)["mpc"]
        return {"seconds_per_plan_mpc": planning_seconds(mpc, results)} if mpc else {}

    def rows(self, summary: Summary) -> list[Row]:
        label = PLANT_LABELS[self.plant]
        if "missing" in summary:
            claim = "MPC, against the paper's same curve"
            return [missing_row(f"{label}: prediction error", claim, summary["missing"])]
        means = {name: curve["mean"] for name, curve in summary["curves"].items()}
        figure = f"{self.plant}_prediction_mse"
        rows = [ordering_row(f"{label}: order of the schemes", means)]
        for name in ("mpc", "open_loop", "random", NOT_MONOTONE):
            claim = f"{SCHEME_LABELS[name]}, against the paper's same curve"
            if name in means:
                rows += curve_rows(
                    f"{label}: prediction error", claim, means[name], paper_curve(figure, name)
                )
            else:
                rows.append(missing_row(f"{label}: prediction error", claim, summary["without_model"][name]))
        for name in ("open_loop", "random"):
            claim = f"{SCHEME_LABELS[name]}, even against the paper's MPC"
            rows += curve_rows(f"{label}: prediction error", claim, means[name], paper_curve(figure, "mpc"))
        if NOT_MONOTONE in means:
            ours, without = (float(np.mean(means[name][:20])) for name in ("mpc", NOT_MONOTONE))
            claim = "monotone variance does not harm: mean error over horizons 1 to 20, with against without"
            row = compare(f"{label}: monotone variance", claim, rounded(ours), rounded(without), errors=True)
            steps = [max(summary["training_steps"][name]) for name in ("mpc", NOT_MONOTONE)]
            if steps[0] != steps[1]:
                note = f"trained for {steps[0]} steps against {steps[1]}, which tells more than the decoder"
                row = replace(row, status="for reference", note=note)
            rows.append(row)
        return rows

    def figures(self, summary: Summary) -> list[Figure]:
        if "missing" in summary:
            return []
        label = PLANT_LABELS[self.plant]
        error = Chart(
            f"{label}: prediction error",
            "prediction horizon",
            "mean squared error",
            self._series(summary),
            log_y=True,
        )
        entropy = Chart(
            f"{label}: what the calibration learns",
            "transitions seen",
            "entropy of the belief, nats",
            [
                Series(SCHEME_LABELS[name], np.arange(len(values)), values, COLOURS[name])
                for name, values in summary["entropy_along_calibration"].items()
                if name
                != NOT_MONOTONE  # its latent space is another one: the two entropies cannot be compared
            ],
        )
        return [
            Figure(f"{self.name}_error", error.svg(), "Prediction error; solid: ours, dashed: the paper's."),
            Figure(
                f"{self.name}_entropy", entropy.svg(), "Mean entropy of the belief along the calibration."
            ),
        ]

    def _series(self, summary: Summary) -> list[Series]:
        ours, paper = [], []
        for name, curve in summary["curves"].items():
            band = (curve["q20"], curve["q80"]) if name in ("random", "mpc") else None
            ours.append(Series(SCHEME_LABELS[name], HORIZONS, curve["mean"], COLOURS[name], band=band))
            values = paper_curve(f"{self.plant}_prediction_mse", name)
            paper.append(
                Series("paper's" if name == "mpc" else "", HORIZONS, values, COLOURS[name], dashed=True)
            )
        return ours + paper

    def _curves(self, scope: Scope) -> dict[str, list[CalibrationRun]]:
        models, others = scope.models(self.plant), scope.models(self.plant, monotone=False)
        return {
            "random": scope.calibrations(models, "random"),
            "open_loop": scope.calibrations(models, "open_loop"),
            "mpc": scope.calibrations(models, "mpc"),
            NOT_MONOTONE: scope.calibrations(others, "mpc"),
        }
