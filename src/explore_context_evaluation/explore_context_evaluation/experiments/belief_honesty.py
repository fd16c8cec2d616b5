"""Beyond the paper: is the belief honest? Coverage of predictive intervals, and whether entropy foretells the
error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from explore_context.planning.calibration import Scheme
from explore_context_evaluation.drawing import Chart, Series
from explore_context_evaluation.experiments.base import (
    PLANT_LABELS,
    SCHEME_LABELS,
    Experiment,
    Figure,
    Results,
    Scope,
    Summary,
)
from explore_context_evaluation.statistics import coverage, rank_correlation, rounded
from explore_context_evaluation.units import EntropyAndError, PredictiveCoverage, Unit
from explore_context_evaluation.verdict import Row, compare, missing_row

SCHEMES: tuple[Scheme, ...] = ("random", "mpc")
HORIZONS = (1, 5, 10, 20, 50)
LEVELS = (0.5, 0.8, 0.9, 0.95)
SAMPLES = 64
BUDGETS = (1, 2, 5, 10, 20, 30)
ERROR_HORIZON = 10
# Our own bars: intervals may be a little too narrow or too wide, not more (one that holds everything says
# nothing); entropy must rank beliefs clearly better than chance, all of them and those of the full budget.
CHECKED_LEVEL, LEAST_COVERAGE, MOST_COVERAGE = 0.9, 0.85, 0.97
LEAST_CORRELATION = 0.5


class BeliefHonesty(Experiment):
    def __init__(self, plant: str) -> None:
        self.plant = plant
        self.name = f"{plant}_belief_honesty"
        self.title = f"{PLANT_LABELS[plant]}: is the belief honest?"
        self.about = (
            f"Left: share of true states inside predictive intervals of a given probability (the diagonal "
            f"is perfect, below it is overconfident); "
            f"the prediction mixes {SAMPLES} draws of the belief. Right: entropy of the belief against the "
            f"prediction error on the same unseen "
            f"system, after {', '.join(map(str, BUDGETS))} random transitions."
        )

    def units(self, scope: Scope) -> list[Unit]:
        return [
            *(unit for scheme in SCHEMES for unit in self._coverage_units(scope, scheme)),
            *self._entropy_units(scope),
        ]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        models = scope.models(self.plant)
        if not models:
            return {"missing": scope.catalogue.missing(self.plant)}
        covered = {scheme: self._coverage(scope, scheme, results) for scheme in SCHEMES}
        return {"models": [m.name for m in models], "coverage": covered, **self._entropy(scope, results)}

    def rows(self, summary: Summary) -> list[Row]:
        group = f"{PLANT_LABELS[self.plant]}: honest belief (our own bars)"
        if "missing" in summary:
            return [missing_row(group, "coverage of predictive intervals", summary["missing"])]
        rows = []
        for scheme in SCHEMES:
            for horizon in (1, 10, 20):
                share = summary["coverage"][scheme]["with_belief"][str(horizon)][str(CHECKED_LEVEL)]
                rows.append(_coverage_row(group, scheme, horizon, share))
        correlation = summary["rank_correlation"]
        for budget, claim in (
            ("all", "entropy ranks beliefs by their error: rank correlation over all systems and budgets"),
            (
                str(BUDGETS[-1]),
                f"the same among beliefs of {BUDGETS[-1]} transitions: which system is still badly known",
            ),
        ):
            value = correlation[budget]
            if value is None:
                rows.append(missing_row(group, claim, "too few systems for a correlation", "not run"))
            else:
                rows.append(compare(group, claim, value, LEAST_CORRELATION, ">="))
        return rows

    def figures(self, summary: Summary) -> list[Figure]:
        if "missing" in summary:
            return []
        series = [Series("perfect", [0, 1], [0, 1], "grey", dashed=True)]
        for horizon, colour in zip((1, 10, 20), ("green", "orange", "violet"), strict=True):
            for mode, label, dots in (("with_belief", f"horizon {horizon}", False), ("mean_only", "", True)):
                shares = summary["coverage"]["mpc"][mode][str(horizon)]
                x, y = [0.0, *LEVELS, 1.0], [0.0, *(shares[str(level)] for level in LEVELS), 1.0]
                series.append(Series(label, x, y, colour, dots=dots))
        chart = Chart(
            "Coverage after MPC calibration",
            "probability of the interval",
            "share inside",
            series,
            y_range=(0, 1),
            x_range=(0, 1),
        )
        points = summary["entropy_and_error"]
        colours = ("red", "orange", "gold", "green", "blue", "violet")
        beliefs = [
            Series(
                f"{budget}", points[str(budget)]["entropy"], points[str(budget)]["error"], colour, dots=True
            )
            for budget, colour in zip(BUDGETS, colours, strict=True)
        ]
        correlation = summary["rank_correlation"]["all"]
        title = "Entropy and error" + ("" if correlation is None else f", rank correlation {correlation:.2f}")
        scatter = Chart(
            title, "entropy, nats", f"mean squared error, horizons 1 to {ERROR_HORIZON}", beliefs, log_y=True
        )
        return [
            Figure(
                f"{self.name}_coverage",
                chart.svg(),
                "Lines: with draws of the belief; dots: with its mean alone, as a point estimate would.",
            ),
            Figure(
                f"{self.name}_entropy",
                scatter.svg(),
                "Every dot is one belief; colours: transitions it has seen.",
            ),
        ]

    def _coverage(self, scope: Scope, scheme: Scheme, results: Results) -> dict[str, Any]:
        shares: dict[str, Any] = {}
        for mode in ("with_belief", "mean_only"):
            values = np.array(
                [results[unit][mode] for unit in self._coverage_units(scope, scheme)]
            )  # (systems, T, K, X)
            shares[mode] = {
                str(h): {str(level): coverage(values[:, :, k], level) for level in LEVELS}
                for k, h in enumerate(HORIZONS)
            }
        return shares

    def _entropy(self, scope: Scope, results: Results) -> Summary:
        units = self._entropy_units(scope)
        entropy = np.array([results[unit]["entropy"] for unit in units])  # (systems, budgets)
        error = np.array([results[unit]["errors"][:, :ERROR_HORIZON].mean(axis=1) for unit in units])
        per_budget = {str(b): rank_correlation(entropy[:, k], error[:, k]) for k, b in enumerate(BUDGETS)}
        return {
            "rank_correlation": {"all": rank_correlation(entropy, error), **per_budget},
            "entropy_and_error": {
                str(b): {"entropy": rounded(entropy[:, k]), "error": rounded(error[:, k])}
                for k, b in enumerate(BUDGETS)
            },
        }

    def _coverage_units(self, scope: Scope, scheme: Scheme) -> list[PredictiveCoverage]:
        runs = scope.calibrations(scope.models(self.plant)[:1], scheme)
        return [PredictiveCoverage(run, HORIZONS, SAMPLES) for run in runs]

    def _entropy_units(self, scope: Scope) -> list[EntropyAndError]:
        """Entropies of two models cannot be compared: the shipped one alone."""
        settings = scope.settings
        return [
            EntropyAndError(model, k, BUDGETS, settings.rollouts, settings.seed)
            for model in scope.models(self.plant)[:1]
            for k in range(settings.systems)
        ]


def _coverage_row(group: str, scheme: Scheme, horizon: int, share: float) -> Row:
    """Bounded on both sides; the row shows the bound that is nearer to being missed."""
    claim = (
        f"{CHECKED_LEVEL:.0%} interval holds {LEAST_COVERAGE:.0%} to {MOST_COVERAGE:.0%} of the true states, "
        f"after {SCHEME_LABELS[scheme]} calibration, horizon {horizon}"
    )
    if share > CHECKED_LEVEL:
        return compare(group, claim, share, MOST_COVERAGE, "<=")
    return compare(group, claim, share, LEAST_COVERAGE, ">=")
