"""Single experiments: where their bars are, and what their figures and rows say."""

from __future__ import annotations

from typing import Any

import pytest

from explore_context_evaluation.experiments.belief_honesty import BUDGETS, HORIZONS, LEVELS, BeliefHonesty
from explore_context_evaluation.experiments.calibration_budget import CalibrationBudget
from explore_context_evaluation.experiments.prediction import PlantPrediction
from explore_context_evaluation.paper import paper_results
from explore_context_evaluation.report import headline_rows


def honesty(share: float = 0.9, **correlations: float) -> dict[str, Any]:
    """A summary in which every interval holds ``share`` of the states; correlations by budget, else 0.8."""
    covered = {"with_belief": {str(h): {str(level): share for level in LEVELS} for h in HORIZONS}}
    usual = dict.fromkeys(["all", *map(str, BUDGETS)], 0.8)
    return {"coverage": {"random": covered, "mpc": covered}, "rank_correlation": {**usual, **correlations}}


@pytest.mark.parametrize(
    ("share", "status"),
    [(0.84, "not met"), (0.85, "met"), (0.93, "met"), (0.97, "met"), (0.98, "not met"), (1.0, "not met")],
)
def test_intervals_may_be_neither_too_narrow_nor_too_wide(share: float, status: str) -> None:
    rows = [row for row in BeliefHonesty("pendulum").rows(honesty(share)) if "interval" in row.claim]
    assert len(rows) == 6
    assert {row.status for row in rows} == {status}


@pytest.mark.parametrize("budget", ["all", str(BUDGETS[-1])])
def test_entropy_must_rank_clearly_better_than_chance(budget: str) -> None:
    rows = BeliefHonesty("pendulum").rows(honesty(**{budget: 0.4}))
    (row,) = [row for row in rows if row.status == "not met"]
    assert row.ours == 0.4
    assert row.paper == 0.5


def test_the_figures_of_the_ablation_name_their_planner() -> None:
    paper = paper_results()["pendulum_calibration_budget_mse"]
    curves = {name: {"mean": values} for name, values in paper.items()}
    summary = {"curves": curves, "systems": 5, "planner": "mine.yaml", "models": ["a", "b"]}
    captions = [figure.caption for figure in CalibrationBudget("pendulum").figures(summary)]
    assert captions == ["MPC calibration with the planner mine.yaml, 5 systems, 2 models."] * 2


@pytest.mark.parametrize("plant", ["pendulum", "mountain_car"])
def test_a_missing_model_stands_among_the_headlines(plant: str) -> None:
    rows = PlantPrediction(plant).rows({"missing": "no model of x"})
    assert headline_rows(rows) == rows
