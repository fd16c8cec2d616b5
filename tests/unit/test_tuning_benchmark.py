"""The tuning benchmark: planner settings compared on the same systems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.small_model import export_small_model

from explore_context.model import Belief
from explore_context.planning import CalibrationSettings, Plan, RealtimePlannerSettings
from explore_context.planning.simulated import SimulatedCalibration
from explore_context_evaluation.benchmarks.tuning import Tuned, calibrate_all, main, print_table, promises

QUICK = RealtimePlannerSettings(iterations=1, candidates=4, first_iterations=1, first_candidates=4, ways=0)
SHORT = CalibrationSettings(transitions=4, horizon=3)


def test_the_same_settings_calibrate_alike_and_others_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "pendulum"
    export_small_model(folder, "residual")
    other = RealtimePlannerSettings(iterations=2, candidates=8, samples=3, ways=0)
    first, again, different = (
        calibrate_all(folder, "pendulum", SHORT, planner, 3) for planner in (QUICK, QUICK, other)
    )
    assert first.entropy.shape == first.error.shape == (3,) and (first.milliseconds > 0).all()
    np.testing.assert_array_equal(first.entropy, again.entropy)
    np.testing.assert_array_equal(first.error, again.error)
    assert (first.entropy != different.entropy).any()
    assert (first.promised > 0).all() and (first.came > 0).all()


def test_the_table_shows_paired_differences(capsys: pytest.CaptureFixture[str]) -> None:
    entropy, error = np.array([-1.0, -2.0, -6.0]), np.full(3, 0.5)
    gains = 2.0 * np.ones(3), 1.5 * np.ones(3)
    print_table(
        {
            "a": Tuned(entropy, error, np.ones(3), *gains),
            "b": Tuned(entropy - 1.0, error + 0.25, np.ones(3), *gains),
        }
    )
    first, second = (line.split() for line in capsys.readouterr().out.splitlines()[-2:])
    assert first[:-2] == ["a", "1.0", "-3.00", "+0.00", "±", "0.00", "0.5000", "+0.0000", "±", "0.0000"]
    assert second[:-2] == ["b", "1.0", "-4.00", "-1.00", "±", "0.00", "0.7500", "+0.2500", "±", "0.0000"]
    assert first[-2:] == second[-2:] == ["2.00", "1.50"]


def test_promises_are_compared_with_what_came_within_their_horizon() -> None:
    nothing = np.zeros(1, np.float32)
    beliefs = tuple(Belief(nothing, np.full(1, std, np.float32), nothing) for std in (4.0, 2.0, 1.0))
    plans = tuple(Plan(np.zeros((steps, 1), np.float32), 1.0 + steps, 1, 0.0, True) for steps in (2, 1))
    none = np.empty(0)
    run = SimulatedCalibration(none, none, none, beliefs, plans, none)
    promised, came = promises(run)
    assert promised == [3.0, 2.0]
    np.testing.assert_allclose(came, np.log([4.0, 2.0]), rtol=1e-6)


@pytest.mark.parametrize("arguments", [["--model", "none"], ["no_such_planner"]])
def test_what_is_missing_is_one_sentence(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("bench tuning: ")
