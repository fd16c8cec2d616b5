"""Planner settings: shipped files, errors that name file and field; sample sets and noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explore_context.planning import (
    ExecutionSettings,
    PaperPlannerSettings,
    PlannerSettingsError,
    RealtimePlannerSettings,
    load_planner_settings,
    planner_names,
)
from explore_context.planning.sampling import antithetic_orthogonal, primitives, smooth_noise, with_stretch


def test_the_shipped_paper_planner_has_the_papers_numbers() -> None:
    assert load_planner_settings("paper") == PaperPlannerSettings(10, 1000, 100, 20)
    assert {"paper", "realtime"} <= set(planner_names())
    assert isinstance(load_planner_settings("realtime"), RealtimePlannerSettings)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("planner: realtime\ncandidates: 12\nwarm_std: 1\n")
    settings = load_planner_settings(path)
    assert isinstance(settings, RealtimePlannerSettings)
    assert settings.candidates == 12 and settings.warm_std == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("planner: best\n", "'planner' must be one of paper, realtime"),
        ("iterations: 3\n", "'planner' must be one of"),
        ("planner: paper\ncandidate: 3\n", "unknown key candidate"),
        ("planner: paper\ncandidates: many\n", "candidates: expected int"),
        ("planner: paper\ncandidates: true\n", "candidates: expected int"),
        ("planner: paper\nelites: 2000\n", "elites: 2000 are more than the 1000 candidates"),
        ("planner: paper\niterations: 0\n", "iterations: 0 must be at least 1"),
        ("planner: realtime\nsmoothness: 1.0\n", "smoothness: 1.0 must lie in"),
        ("planner: realtime\nwarm_std: -1\n", "warm_std: -1.0 must be positive"),
        ("planner: realtime\nkept: 0\n", "kept: 0 must be at least 1"),
        ("planner: realtime\nprimitives: -1\n", "primitives: -1 must not be negative"),
        ("planner: realtime\nexplore: 1.5\n", "explore: 1.5 must lie in [0, 1]"),
        ("planner: [\n", "not valid YAML"),
    ],
)
def test_errors_name_file_and_field(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(PlannerSettingsError) as error:
        load_planner_settings(path)
    assert str(path) in str(error.value) and message in str(error.value)


def test_unknown_planners_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(PlannerSettingsError, match=r"unknown planner 'best'; known are .*paper"):
        load_planner_settings("best")
    with pytest.raises(PlannerSettingsError, match="no such file"):
        load_planner_settings(tmp_path / "none.yaml")


def test_execution_settings_are_checked() -> None:
    assert ExecutionSettings(workers=3).threads == 3
    assert ExecutionSettings().threads >= 1
    with pytest.raises(ValueError, match="block_rows"):
        ExecutionSettings(block_rows=0)


@pytest.mark.parametrize(("n", "dimensions"), [(1, 4), (8, 16), (9, 16), (40, 5), (7, 1)])
def test_context_samples_are_antithetic_orthogonal_and_normal(n: int, dimensions: int) -> None:
    rng = np.random.default_rng(0)
    points = antithetic_orthogonal(rng, n, dimensions)
    assert points.shape == (n, dimensions) and points.dtype == np.float32
    half = (n + 1) // 2
    np.testing.assert_allclose(points[half:], -points[: n - half])
    first = points[: min(half, dimensions)]
    products = first @ first.T
    np.testing.assert_allclose(products - np.diag(np.diag(products)), 0.0, atol=1e-4)
    many = np.concatenate([antithetic_orthogonal(rng, n, dimensions) for _ in range(4000 // n)])
    np.testing.assert_allclose(many.mean(axis=0), 0.0, atol=0.1)
    np.testing.assert_allclose(many.std(axis=0), 1.0, atol=0.12)


@pytest.mark.parametrize("smoothness", [0.0, 0.6, 0.9])
def test_smooth_noise_has_unit_variance_and_the_correlation_asked_for(smoothness: float) -> None:
    noise = smooth_noise(np.random.default_rng(0), 4000, 12, 1, smoothness)[:, :, 0]
    np.testing.assert_allclose(noise.std(axis=0), 1.0, atol=0.06)
    correlation = np.corrcoef(noise[:, 5], noise[:, 6])[0, 1]
    assert correlation == pytest.approx(smoothness, abs=0.05)


def test_primitives_lie_within_the_bounds() -> None:
    low, high = np.array([-1.0, 0.0]), np.array([3.0, 0.5])
    sequences = primitives(low, high, 9)
    assert sequences.shape[1:] == (9, 2)
    assert (sequences >= low).all() and (sequences <= high).all()
    assert any((sequence == high).all() for sequence in sequences)


def test_stretches_are_set_to_a_bound_and_nothing_else_changes() -> None:
    low, high = np.array([-1.0, 0.0]), np.array([3.0, 0.5])
    sequences = np.full((200, 9, 2), 0.25, np.float32)
    changed = with_stretch(np.random.default_rng(0), sequences, low, high, longest=4)
    different = (changed != sequences).any(axis=2)
    assert (different.sum(axis=1) >= 1).all() and (different.sum(axis=1) <= 4).all()
    assert (np.isclose(changed, low) | np.isclose(changed, high))[different].all()
    assert all(np.ptp(np.flatnonzero(row)) == row.sum() - 1 for row in different)
