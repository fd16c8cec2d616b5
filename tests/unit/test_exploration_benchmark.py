"""The exploration benchmark: quadrants that can be seen at all, and what the unseen ones cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.small_model import export_small_model

from explore_context.plants import get_plant
from explore_context_evaluation.benchmarks.exploration import (
    best_error,
    main,
    pump,
    seen_quadrants,
    swing_everywhere,
)
from explore_context_evaluation.benchmarks.exploration_learner import explore_learning
from explore_context_evaluation.prediction import make_test_system

PENDULUM = get_plant("pendulum")
HANGING = np.array([[np.pi, 0.0]])


def test_a_quadrant_is_seen_where_a_transition_begins() -> None:
    angles = np.array([[np.pi - 0.1, np.pi + 0.1, 0.1], [-0.1, 0.1, 2.0]])
    assert seen_quadrants(angles).tolist() == [[True, False, False, True], [False, True, True, False]]


@pytest.mark.parametrize("knows", [True, False])
@pytest.mark.parametrize("signs", [(1, 1, 1, 1), (1, -1, 1, -1), (-1, -1, 1, 1)])
def test_a_strong_motor_shows_everything_by_pumping(signs: tuple[int, ...], knows: bool) -> None:
    context = 2.0 * np.array([signs], float)
    assert seen_quadrants(pump(PENDULUM, context, HANGING, 30, knows)).all()


def test_who_imagines_learning_sees_more_than_by_pumping() -> None:
    rng = np.random.default_rng(1)
    context = PENDULUM.sample_context(rng, 30)
    start = PENDULUM.initial_state("calibration", rng, 30)
    pumped = seen_quadrants(pump(PENDULUM, context, start, 30, knows=False)).all(axis=1)
    searched = [explore_learning(PENDULUM, context[k], start[k], 30, seed=k) for k in range(len(context))]
    assert seen_quadrants(np.stack(searched)).all(axis=1).sum() > pumped.sum()


def test_the_same_seed_explores_alike() -> None:
    context = np.array([1.0, -0.7, 0.6, 1.5])
    first, second = (explore_learning(PENDULUM, context, HANGING[0], 30, seed=3) for _ in range(2))
    assert first.shape == (31,) and np.array_equal(first, second)


def test_a_weak_motor_does_not_even_when_it_is_known() -> None:
    angles = pump(PENDULUM, np.array([[0.5, 2.0, 2.0, 0.5]]), HANGING, 30, knows=True)
    assert angles.shape == (1, 31)
    assert seen_quadrants(angles).tolist() == [[True, False, False, True]]


def test_a_search_with_known_factors_shows_more_than_pumping_but_not_the_impossible() -> None:
    weak, too_weak = np.array([0.8, -1.6, 1.8, 0.7]), np.array([0.5, 2.0, 2.0, 0.5])
    assert not seen_quadrants(pump(PENDULUM, weak[None], HANGING, 30, knows=True)).all()
    angles = swing_everywhere(PENDULUM, weak, HANGING[0], 30, seed=0)
    assert angles.shape == (31,) and seen_quadrants(angles[None]).all()
    angles = swing_everywhere(PENDULUM, too_weak, HANGING[0], 30, seed=0)
    assert seen_quadrants(angles[None]).tolist() == [[True, False, False, True]]


def test_whoever_saw_everything_errs_nowhere_and_others_must() -> None:
    system = make_test_system(PENDULUM, 0, rollouts=5)
    np.testing.assert_allclose(best_error(PENDULUM, system, np.ones(4, bool)), 0.0, atol=1e-9)
    blind = best_error(PENDULUM, system, np.zeros(4, bool))
    assert blind.shape == (50,) and (blind[:20] > 1e-4).all()


def test_the_table_counts_every_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pendulum"
    export_small_model(folder, "residual")
    assert main(["--model", str(folder), "--systems", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    counted = [line.split()[-3:] for line in lines if "factors" in line or "signs" in line]
    assert len(counted) == 4 and all(sum(map(int, row)) == 2 for row in counted)


def test_a_missing_model_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", str(tmp_path / "none"), "--systems", "1"]) == 1
    assert "bench exploration:" in capsys.readouterr().err
