"""Toy: prediction error after 1, 2 and 3 transitions, random against open loop (figure 3 of the paper)."""

from __future__ import annotations

import numpy as np

from explore_context_evaluation.drawing import Chart, Series
from explore_context_evaluation.experiments.base import (
    SCHEME_LABELS,
    Experiment,
    Figure,
    Results,
    Scope,
    Summary,
)
from explore_context_evaluation.paper import paper_curve
from explore_context_evaluation.statistics import error_curve, rounded
from explore_context_evaluation.units import CalibrationRun, Unit
from explore_context_evaluation.verdict import Row, compare, curve_rows, missing_row

SQUASHINGS = ("inner", "outer")
TRANSITIONS = (1, 2, 3)
GROUP = "Toy: prediction error"
COLOURS = {1: "green", 2: "orange", 3: "violet"}
HORIZONS = np.arange(1, 51)


class ToyPrediction(Experiment):
    name = "toy_prediction"
    title = "Toy: prediction error after one, two and three transitions"
    about = (
        "A single well-chosen action tells everything there is to know; random ones often tell nothing. "
        "Solid: ours, dashed: the paper's; the upper curves are random calibration."
    )

    def units(self, scope: Scope) -> list[Unit]:
        return [
            unit
            for squashing in SQUASHINGS
            for units in self._curves(scope, squashing).values()
            for unit in units
        ]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        summary: Summary = {}
        for squashing in SQUASHINGS:
            models = scope.models(f"toy_{squashing}")
            if not models:
                summary[squashing] = {"missing": scope.catalogue.missing(f"toy_{squashing}")}
                continue
            curves = {
                name: error_curve([results[unit]["errors"][-1] for unit in units])
                for name, units in self._curves(scope, squashing).items()
            }
            summary[squashing] = {"models": [m.name for m in models], "curves": curves}
        return summary

    def rows(self, summary: Summary) -> list[Row]:
        rows = []
        for squashing in SQUASHINGS:
            part = summary[squashing]
            if "missing" in part:
                rows.append(
                    missing_row(
                        GROUP, f"{squashing}, open loop, against the paper's same curve", part["missing"]
                    )
                )
                continue
            for n in TRANSITIONS:
                what = f"{squashing}, {n} transition{'s' * (n > 1)}"
                ours = {
                    scheme: part["curves"][f"{n}_transitions_{scheme}"]["mean"]
                    for scheme in ("open_loop", "random")
                }
                for scheme in ("open_loop", "random"):
                    claim = f"{what}, {SCHEME_LABELS[scheme]}, against the paper's same curve"
                    paper = paper_curve("toy_prediction_mse", f"{squashing}_{n}_transitions_{scheme}")
                    rows += curve_rows(GROUP, claim, ours[scheme], paper)
                claim = f"{what}: open loop below random, mean error over horizons 1 to 20"
                means = {scheme: rounded(np.mean(ours[scheme][:20])) for scheme in ours}
                rows.append(
                    compare(
                        "Toy: order of the schemes", claim, means["open_loop"], means["random"], errors=True
                    )
                )
        return rows

    def figures(self, summary: Summary) -> list[Figure]:
        figures = []
        for squashing in SQUASHINGS:
            if "missing" in summary[squashing]:
                continue
            sign = "< 1" if squashing == "inner" else "> 1"
            title = f"Toy, informative where |u| {sign}"
            series = self._series(squashing, summary[squashing]["curves"])
            chart = Chart(title, "prediction horizon", "mean squared error", series, log_y=True)
            figures.append(Figure(f"toy_prediction_{squashing}", chart.svg(), f"Squashing “{squashing}”."))
        return figures

    def _series(self, squashing: str, curves: Summary) -> list[Series]:
        series = []
        for n in TRANSITIONS:
            for scheme in ("random", "open_loop"):
                name = f"{n}_transitions_{scheme}"
                label = f"{SCHEME_LABELS[scheme]}, {n}"
                width = 2.2 if scheme == "open_loop" else 1.2
                series.append(Series(label, HORIZONS, curves[name]["mean"], COLOURS[n], width=width))
                paper = paper_curve("toy_prediction_mse", f"{squashing}_{name}")
                series.append(
                    Series(
                        "paper's" if name == "3_transitions_open_loop" else "",
                        HORIZONS,
                        paper,
                        COLOURS[n],
                        dashed=True,
                    )
                )
        return series

    def _curves(self, scope: Scope, squashing: str) -> dict[str, list[CalibrationRun]]:
        return {
            f"{n}_transitions_{scheme}": [
                scope.calibration(model, system, scheme, transitions=n)
                for model in scope.models(f"toy_{squashing}")
                for system in range(scope.settings.systems)
            ]
            for n in TRANSITIONS
            for scheme in ("random", "open_loop")
        }
