"""Toy: entropy of the belief over the action of a single transition (figure 2 of the paper)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explore_context.plants.toy import SQUASHINGS
from explore_context_evaluation.drawing import Chart, Series
from explore_context_evaluation.experiments.base import Experiment, Figure, Results, Scope, Summary
from explore_context_evaluation.statistics import rounded
from explore_context_evaluation.units import EntropyOverActions, Unit
from explore_context_evaluation.verdict import Row, compare, missing_row

POINTS, SAMPLES = 81, 256
VARIANTS = ("toy_inner", "toy_outer", "toy_inner_noise_free", "toy_outer_noise_free")
# Effective magnitude above which an action counts as clearly informative.
CLEAR = 0.5
GROUP = "Toy: entropy over actions"


class ToyEntropy(Experiment):
    name = "toy_entropy"
    title = "Toy: which actions tell something"
    about = (
        "Entropy of the belief after one transition from rest, imagined by the model, scaled to 0..1; the "
        "grey ground marks actions with an effect. "
        "Without noise, even a weak action tells all."
    )

    def units(self, scope: Scope) -> list[Unit]:
        return [unit for variant in VARIANTS for unit in self._units(scope, variant)]

    def summarise(self, scope: Scope, results: Results) -> Summary:
        summary: Summary = {}
        for variant in VARIANTS:
            units = self._units(scope, variant)
            if not units:
                summary[variant] = {"missing": scope.catalogue.missing(variant)}
                continue
            curves = np.array([results[unit]["entropy"] for unit in units])
            summary[variant] = {
                "models": [unit.model.name for unit in units],
                "action": rounded(results[units[0]]["action"]),
                "entropy": rounded(curves.mean(axis=0)),
                "entropy_normalised": rounded(np.mean([_normalised(curve) for curve in curves], axis=0)),
                "entropy_empty": rounded(np.mean([results[unit]["prior"] for unit in units])),
            }
        return summary

    def rows(self, summary: Summary) -> list[Row]:
        rows = []
        for variant in VARIANTS:
            part = summary[variant]
            claim = (
                f"{_label(variant)}: every clearly informative action (effect ≥ {CLEAR}) "
                "below every uninformative one (normalised entropy)"
            )
            if "missing" in part:
                rows.append(missing_row(GROUP, claim, part["missing"]))
                continue
            effect, entropy = _effect(variant, part), np.array(part["entropy_normalised"])
            highest, lowest = entropy[effect >= CLEAR].max(), entropy[effect == 0].min()
            rows.append(compare(GROUP, claim, rounded(highest), rounded(lowest), "<"))
        return rows + [self._faster_row(squashing, summary) for squashing in SQUASHINGS]

    def _faster_row(self, squashing: str, summary: Summary) -> Row:
        claim = f"{squashing}: half of the entropy is gone at a smaller effect without noise than with it"
        with_noise, without = f"toy_{squashing}", f"toy_{squashing}_noise_free"
        for variant in (with_noise, without):
            if "missing" in summary[variant]:
                return missing_row(GROUP, claim, summary[variant]["missing"])
        ours, bar = (
            half_effect(_effect(v, summary[v]), np.array(summary[v]["entropy_normalised"]))
            for v in (without, with_noise)
        )
        return compare(GROUP, claim, rounded(ours), rounded(bar))

    def figures(self, summary: Summary) -> list[Figure]:
        figures = []
        for squashing in SQUASHINGS:
            series = [
                Series(label, summary[v]["action"], summary[v]["entropy_normalised"], colour)
                for v, label, colour in (
                    (f"toy_{squashing}", "with noise", "orange"),
                    (f"toy_{squashing}_noise_free", "without noise", "blue"),
                )
                if "missing" not in summary[v]
            ]
            if not series:
                continue
            grid = np.linspace(-2, 2, 81)
            series.append(
                Series("effect of the action", grid, SQUASHINGS[squashing](grid), "grey", dashed=True)
            )
            shaded = [(-1.0, 1.0)] if squashing == "inner" else [(-2.0, -1.0), (1.0, 2.0)]
            title = f"Squashing “{squashing}”"
            chart = Chart(
                title, "action u", "normalised entropy", series, y_range=(-0.03, 1.08), shaded=shaded
            )
            figures.append(
                Figure(
                    f"toy_entropy_{squashing}",
                    chart.svg(),
                    f"Squashing “{squashing}”: entropy over the action.",
                )
            )
        return figures

    def _units(self, scope: Scope, variant: str) -> list[EntropyOverActions]:
        return [
            EntropyOverActions(model, POINTS, SAMPLES, scope.settings.seed) for model in scope.models(variant)
        ]


def half_effect(effect: NDArray[np.float64], entropy: NDArray[np.float64]) -> float:
    """The smallest effect from which on the normalised entropy stays at or below one half; infinite if it
    never does.
    """
    order = np.argsort(effect, kind="stable")
    above = np.flatnonzero(entropy[order] > 0.5)
    if not len(above):
        return 0.0
    following = above[-1] + 1
    return float(effect[order][following]) if following < len(order) else float("inf")


def _normalised(entropy: NDArray[np.float64]) -> NDArray[np.float64]:
    return (entropy - entropy.min()) / max(float(np.ptp(entropy)), 1e-12)


def _effect(variant: str, part: Summary) -> NDArray[np.float64]:
    return np.asarray(SQUASHINGS["inner" if "inner" in variant else "outer"](np.array(part["action"])))


def _label(variant: str) -> str:
    squashing = "inner" if "inner" in variant else "outer"
    return f"{squashing}, {'without' if 'noise_free' in variant else 'with'} noise"
