"""Pendulum: the belief's entropy falls when a new quadrant is seen and hardly otherwise (figure 6 of the
paper).
"""

from __future__ import annotations

import numpy as np

from explore_context_evaluation.drawing import Chart, Series
from explore_context_evaluation.experiments.base import Experiment, Figure, Results, Scope, Summary
from explore_context_evaluation.paper import paper_results
from explore_context_evaluation.statistics import rounded
from explore_context_evaluation.units import QuadrantEntropy, Unit
from explore_context_evaluation.units.beliefs import QUADRANT_TRANSITIONS as N
from explore_context_evaluation.verdict import Row, compare, missing_row

LEAST_DROP = 1.0
SATURATED_FROM = 5
LARGEST_REST = 1.0
GROUP = "Pendulum: quadrant entropy"
PAPER_STAGES = ("empty_context", "after_Q1", "after_Q1_Q2", "after_Q1_Q2_Q3", "after_all_four")


class QuadrantEntropyExperiment(Experiment):
    name = "quadrant_entropy"
    title = "Pendulum: entropy counts quadrants, not transitions"
    about = (
        "15 transitions with torques in [-1, 1] of quadrant 1, then of 2, 3 and 4 are added to the context. "
        "Dots: single systems, line: mean; "
        "dashed: the paper's levels, shifted to our empty context (absolute entropies of two latent spaces "
        "cannot be compared)."
    )

    def units(self, scope: Scope) -> list[Unit]:
        return list(self._units(scope))

    def summarise(self, scope: Scope, results: Results) -> Summary:
        units = self._units(scope)
        if not units:
            return {"missing": scope.catalogue.missing("pendulum")}
        entropy = np.array([results[unit]["entropy"] for unit in units])
        mean = entropy.mean(axis=0)
        ends = mean[::N]
        rests = [mean[q * N + SATURATED_FROM] - mean[(q + 1) * N] for q in range(4)]
        return {
            "models": [m.name for m in scope.models("pendulum")],
            "entropy_mean": rounded(mean),
            "entropy_systems": rounded(entropy[:6]),
            "after_quadrants": rounded(ends),
            "drop_per_quadrant": rounded(-np.diff(ends)),
            "drop_5th_to_15th": rounded(rests),
        }

    def rows(self, summary: Summary) -> list[Row]:
        if "missing" in summary:
            return [
                missing_row(
                    GROUP,
                    f"each new quadrant lowers the entropy by more than {LEAST_DROP:g} nat",
                    summary["missing"],
                )
            ]
        paper = -np.diff([paper_results()["pendulum_quadrant_entropy_nats"][stage] for stage in PAPER_STAGES])
        rows = []
        for q in range(4):
            note = f"the paper's drop: {paper[q]:.1f} nats"
            claim = f"quadrant {q + 1} lowers the entropy by more than {LEAST_DROP:g} nat"
            rows.append(compare(GROUP, claim, summary["drop_per_quadrant"][q], LEAST_DROP, ">", note=note))
        for q in range(4):
            claim = (
                f"inside quadrant {q + 1}, transitions {SATURATED_FROM} to {N} "
                f"lower it by less than {LARGEST_REST:g} nat"
            )
            rows.append(compare(GROUP, claim, summary["drop_5th_to_15th"][q], LARGEST_REST, "<"))
        return rows

    def figures(self, summary: Summary) -> list[Figure]:
        if "missing" in summary:
            return []
        seen = np.arange(4 * N + 1)
        dots = np.array(summary["entropy_systems"])
        paper = paper_results()["pendulum_quadrant_entropy_nats"]
        shift = summary["entropy_mean"][0] - paper["empty_context"]
        series = [
            Series("single systems", np.tile(seen, len(dots)), dots.ravel(), "blue", dots=True),
            Series("mean", seen, summary["entropy_mean"], "ink"),
        ]
        for q in range(4):
            level = paper[PAPER_STAGES[q + 1]] + shift
            label = "paper's, shifted" if q == 3 else ""
            series.append(Series(label, [q * N + 1, (q + 1) * N], [level, level], "orange", dashed=True))
        chart = Chart(
            "Entropy while quadrants are covered",
            "transitions in the context, 15 per quadrant",
            "entropy, nats",
            series,
            width=640,
            x_range=(-1, 4 * N + 1),
            shaded=[(0.5, N + 0.5), (2 * N + 0.5, 3 * N + 0.5)],
        )
        return [Figure("quadrant_entropy_mean", chart.svg(), "Grey and white ground: quadrants 1 to 4.")]

    def _units(self, scope: Scope) -> list[QuadrantEntropy]:
        settings = scope.settings
        return [
            QuadrantEntropy(m, k, settings.seed)
            for m in scope.models("pendulum")
            for k in range(settings.systems)
        ]
