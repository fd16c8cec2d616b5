"""The verdict's table logic, on made-up results that meet every claim and on ones that miss them."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from explore_context_evaluation.experiments import all_experiments
from explore_context_evaluation.experiments.belief_honesty import BUDGETS, HORIZONS, LEVELS
from explore_context_evaluation.experiments.calibration_budget import TRANSITIONS
from explore_context_evaluation.experiments.toy_entropy import half_effect
from explore_context_evaluation.paper import paper_results
from explore_context_evaluation.report import headline_rows
from explore_context_evaluation.tables import claims_table, curves_table, markdown_table
from explore_context_evaluation.verdict import (
    CHECKED_HORIZONS,
    Row,
    compare,
    counts,
    curve_rows,
    judged,
    missing_row,
    ordering_row,
)


@pytest.mark.parametrize(
    ("ours", "bar", "rule", "status"),
    [
        (0.5, 1.0, "<=", "met"),
        (1.0, 1.0, "<=", "met"),
        (1.0, 1.0, "<", "not met"),
        (1.1, 1.0, "<=", "not met"),
        (-220.0, -224.5, ">=", "met"),
        (-230.0, -224.5, ">=", "not met"),
        (float("nan"), 1.0, "<=", "not met"),
        (float("inf"), 1.0, ">=", "not met"),
    ],
)
def test_compare(ours: float, bar: float, rule: str, status: str) -> None:
    assert compare("group", "claim", ours, bar, rule).status == status


def test_a_ratio_is_given_for_errors_only() -> None:
    assert compare("g", "c", 0.5, 2.0, errors=True).ratio == 0.25
    assert compare("g", "c", 0.5, 2.0).ratio is None
    assert compare("g", "c", 0.0, 2.0, errors=True).ratio is None
    missed = compare("g", "c", float("nan"), 2.0, note="why")
    assert missed.ours is None
    assert missed.note == "ours is not finite; why"


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown rule"):
        compare("g", "c", 1.0, 2.0, "=")


def test_curves_are_compared_at_the_agreed_horizons() -> None:
    paper = [float(h) for h in range(1, 51)]
    ours = [*paper[:9], 10.5, *paper[10:]]
    rows = curve_rows("g", "c", ours, paper)
    assert [row.horizon for row in rows] == list(CHECKED_HORIZONS)
    assert [row.status for row in rows] == ["met", "met", "not met", "met", "met"]
    assert rows[2].ratio == pytest.approx(1.05)


def test_a_few_systems_are_no_verdict() -> None:
    rows = [compare("g", "c", 1.0, 2.0), compare("g", "c", 3.0, 2.0, note="why")]
    assert [row.status for row in judged(rows, 10)] == ["met", "not met"]
    assert [row.note for row in judged(rows, 10)] == ["10 systems", "why; 10 systems"]
    few = judged(rows, 2)
    assert [row.status for row in few] == ["for reference"] * 2
    assert few[1].note == "why; 2 systems, too few for a verdict"


def test_the_order_of_schemes_is_checked_at_every_horizon() -> None:
    curves = {"mpc": [1.0] * 50, "open_loop": [2.0] * 50, "random": [3.0] * 50}
    assert ordering_row("g", curves).status == "met"
    curves["mpc"] = [1.0] * 4 + [2.5] * 2 + [1.0] * 10 + [2.2] + [1.0] * 33
    row = ordering_row("g", curves)
    assert row.status == "not met"
    assert (row.ours, row.paper) == (17, 20)
    assert row.note == "broken at horizon 5-6, 17, by a factor of 1.25 at most"
    curves["mpc"] = [1.0] * 20 + [9.0] * 30
    assert ordering_row("g", curves).status == "met", "horizons beyond 20 do not count"


def test_counts_name_only_what_occurs() -> None:
    rows = [compare("g", "c", 1, 2), compare("g", "c", 3, 2), missing_row("g", "c", "no model of x")]
    assert counts(rows) == {"met": 1, "not met": 1, "no model": 1}


def test_half_effect() -> None:
    effect = np.array([0.0, 0.5, 0.25, 1.0])
    assert half_effect(effect, np.array([1.0, 0.3, 0.9, 0.0])) == 0.5
    assert half_effect(effect, np.array([1.0, 0.9, 0.9, 0.8])) == float("inf")


def _curve(paper: list[float], factor: float) -> dict[str, list[float]]:
    values = (factor * np.array(paper)).tolist()
    return {"mean": values, "q20": values, "q80": values, "standard_error": values}


def made_up_summaries(good: bool) -> dict[str, dict]:
    """A summary of every experiment: half of the paper's errors, or twice."""
    paper = paper_results()
    factor = 0.5 if good else 2.0
    summaries: dict[str, dict] = {}
    for plant in ("pendulum", "mountain_car"):
        given = paper[f"{plant}_prediction_mse"]
        # all three must beat the paper's MPC curve and stand in order
        scale = {"mpc": 0.4, "open_loop": 0.5, "random": 0.6, "mpc_without_decreasing_variance": 0.5}
        source = dict.fromkeys(scale, "mpc") if good else dict.fromkeys(scale, "random")
        curves = {
            name: _curve(given[source[name]], share if good else 4 - share) for name, share in scale.items()
        }
        summaries[f"{plant}_prediction"] = {
            "curves": curves,
            "without_model": {},
            "training_steps": {name: [1000] for name in ("mpc", "mpc_without_decreasing_variance")},
            "entropy_along_calibration": {name: [20.0, 10.0] for name in scale},
        }
        budget = paper[f"{plant}_calibration_budget_mse"]
        curves = {name: _curve(values, factor) for name, values in budget.items()}
        assert len(curves) == 2 * len(TRANSITIONS[plant])
        summaries[f"{plant}_calibration_budget"] = {
            "curves": curves,
            "systems": 50,
            "planner": "realtime",
            "models": [plant],
        }
        share = 0.9 if good else 0.2
        covered = {str(h): {str(level): share for level in LEVELS} for h in HORIZONS}
        modes = {"with_belief": covered, "mean_only": covered}
        correlation = 0.8 if good else -0.2
        points = {"entropy": [1.0, 2.0], "error": [0.1, 0.2]}
        summaries[f"{plant}_belief_honesty"] = {
            "coverage": {"random": modes, "mpc": modes},
            "rank_correlation": {"all": correlation, **{str(b): correlation for b in BUDGETS}},
            "entropy_and_error": {str(b): points for b in BUDGETS},
        }
        mpc = given["mpc"]
        summaries[f"{plant}_planners"] = {
            "curves": {"paper": _curve(mpc, 1.0), "realtime": _curve(mpc, 1.0 if good else 1.5)},
            "final_entropy": {"paper": [5.0, 6.0], "realtime": [5.2, 6.1] if good else [9.0, 9.0]},
            "systems": 20,
            "model": plant,
        }
    toy = paper["toy_prediction_mse"]
    summaries["toy_prediction"] = {}
    for squashing in ("inner", "outer"):
        names = [name for name in toy if name.startswith(squashing)]
        scales = {name: factor if good or "random" in name else 500.0 for name in names}
        curves = {name.removeprefix(f"{squashing}_"): _curve(toy[name], scales[name]) for name in names}
        summaries["toy_prediction"][squashing] = {"curves": curves}
    summaries["toy_entropy"] = _toy_entropy(good)
    drops = [2.0] * 4 if good else [0.5] * 4
    summaries["quadrant_entropy"] = {
        "entropy_mean": np.linspace(20, 10, 61).tolist(),
        "entropy_systems": [np.linspace(20, 10, 61).tolist()],
        "drop_per_quadrant": drops,
        "drop_5th_to_15th": [0.2] * 4 if good else [1.5] * 4,
    }
    summaries["swing_up"] = _swing_up(good)
    visited = {"random": [2, 2], "mpc": [4, 4]} if good else {"random": [2, 2], "mpc": [2, 1]}
    angles = [[3.1, 3.0, 2.0]]
    summaries["pendulum_trajectories"] = {
        "quadrants_visited": visited,
        "angles": {"random": angles, "mpc": angles},
    }
    x, extents = [-1.0, 0.0, 1.0], {"random": [0.5], "mpc": [1.5 if good else 0.4]}
    paths = [[0.0, 0.1, 0.2, 0.1, 0.0, -0.1]]
    summaries["mountain_car_trajectories"] = {
        "x": x,
        "terrains": [[0.5, 0.1, 0.5]],
        "extent": extents,
        "positions": {"random": paths, "mpc": paths},
    }
    return summaries


def _toy_entropy(good: bool) -> dict[str, dict]:
    action = np.linspace(-2, 2, 41)
    parts = {}
    for variant in ("toy_inner", "toy_outer", "toy_inner_noise_free", "toy_outer_noise_free"):
        effect = np.maximum(1 - abs(action), 0) if "inner" in variant else np.maximum(abs(action) - 1, 0)
        faster = 3.0 if ("noise_free" in variant) == good else 1.0
        entropy = np.maximum(1 - faster * effect, 0.0)
        if not good:
            entropy = 1 - entropy if "noise_free" not in variant else entropy * 0 + effect
        parts[variant] = {"action": action.tolist(), "entropy_normalised": entropy.tolist()}
    return parts


def _swing_up(good: bool) -> dict[str, dict]:
    mpc = -220.0 if good else -400.0

    def episodes(value: float, failures: int) -> dict:
        levels = dict.fromkeys(("q25", "median", "q75", "worst", "best"), value)
        return {**levels, "failures": failures, "episodes": 50, "returns": [value, value - 1]}

    gain = mpc + 350.0
    return {
        "mpc": episodes(mpc, 0 if good else 7),
        "random": episodes(-350.0, 30),
        "true_dynamics": episodes(-215.0, 0),
        "nominal": episodes(-216.0 if good else -250.0, 0),
        "nominal_paper_planner": episodes(-400.0, 0),
        "gain_mpc_over_random": {"q25": gain, "median": gain, "q75": gain, "gains": [gain, gain]},
    }


def _rows(summaries: dict[str, dict]) -> list[Row]:
    return [row for experiment in all_experiments() for row in experiment.rows(summaries[experiment.name])]


def test_results_that_meet_everything() -> None:
    rows = _rows(made_up_summaries(good=True))
    assert counts(rows) == {"met": len(rows) - 1, "for reference": 1}, [r for r in rows if r.status != "met"]
    assert len(rows) > 150


def test_results_that_meet_nothing() -> None:
    rows = _rows(made_up_summaries(good=False))
    unexpected = [row for row in rows if row.status not in ("not met", "for reference")]
    # beating one of our own curves that is bad too is no merit of these results
    assert {row.group.partition(": ")[2] for row in unexpected} <= {"monotone variance"}, unexpected


def test_every_experiment_has_figures_of_made_up_results() -> None:
    summaries = made_up_summaries(good=True)
    for experiment in all_experiments():
        figures = experiment.figures(summaries[experiment.name])
        assert figures, experiment.name
        assert all(figure.svg.startswith("<svg ") for figure in figures)


def test_missing_models_are_honest_rows() -> None:
    parts = ("toy_inner", "toy_outer", "toy_inner_noise_free", "toy_outer_noise_free", "inner", "outer")
    missing = {"missing": "no model of x"}
    for experiment in all_experiments():
        if experiment.name.startswith("toy"):
            summary: dict = dict.fromkeys(parts, missing)
        else:
            summary = {**missing, "x": [0.0, 1.0], "terrains": [[0.0, 1.0]]}
        rows = experiment.rows(summary)
        assert rows, experiment.name
        assert {row.status for row in rows} == {"no model"}
        assert all(row.note == "no model of x" for row in rows)


def test_a_missing_ablation_model_costs_one_row_only() -> None:
    summaries = copy.deepcopy(made_up_summaries(good=True))
    part = summaries["pendulum_prediction"]
    del part["curves"]["mpc_without_decreasing_variance"]
    part["without_model"] = {
        "mpc_without_decreasing_variance": "no model of pendulum without the monotone variance"
    }
    experiment = next(e for e in all_experiments() if e.name == "pendulum_prediction")
    rows = experiment.rows(part)
    assert [row.status for row in rows].count("no model") == 1
    assert {row.status for row in rows} == {"met", "no model"}


def test_an_ablation_of_another_training_length_is_no_verdict() -> None:
    summary = copy.deepcopy(made_up_summaries(good=True))["pendulum_prediction"]
    experiment = next(e for e in all_experiments() if e.name == "pendulum_prediction")
    summary["training_steps"]["mpc_without_decreasing_variance"] = [500]
    (row,) = [row for row in experiment.rows(summary) if row.group == "Pendulum: monotone variance"]
    assert row.status == "for reference" and "1000 steps against 500" in row.note


def test_tables_show_every_row() -> None:
    rows = _rows(made_up_summaries(good=False))
    html = claims_table(rows) + curves_table(rows)
    singles = [row for row in rows if row.horizon is None]
    curves = {(row.group, row.claim) for row in rows if row.horizon is not None}
    assert html.count("<tr>") == len(singles) + len(curves) + 2
    assert "✗" in html


def test_headlines_hold_order_curves_and_swing_up() -> None:
    rows = headline_rows(_rows(made_up_summaries(good=True)))
    assert len(rows) == 2 * (1 + len(CHECKED_HORIZONS)) + 3
    text = markdown_table(rows)
    assert "| Pendulum: MPC, against the paper's same curve |" in text
    assert "failures after MPC" in text
