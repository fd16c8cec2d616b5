"""The paper's claims on the shipped models, with the real planners: minutes, so only with ``--slow``.

What was computed before comes from the evaluation's cache; ``./ws evaluate`` fills it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explore_context.model import load_manifest
from explore_context_evaluation.__main__ import main

ROOT = Path(__file__).parents[2]
PLANTS = ("pendulum", "mountain_car")
LABELS = {"pendulum": "Pendulum", "mountain_car": "Mountain car"}

pytestmark = pytest.mark.timeout(4 * 3600)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("report")
    assert main(["--preset", "quick", "--output", str(folder)]) == 0
    loaded: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return loaded


def _missed(results: dict[str, Any], group: str, claim: str = "") -> list[str]:
    rows = [r for r in results["verdict"] if r["group"].startswith(group) and r["claim"].startswith(claim)]
    assert rows, f"no row of {group}: {claim}"
    return [
        f"{row['claim']}, horizon {row['horizon']}: {row['ours']}, wanted {row['rule']} {row['paper']}"
        for row in rows
        if row["status"] not in ("met", "for reference")
    ]


@pytest.mark.parametrize("plant", PLANTS)
def test_mpc_beats_open_loop_beats_random(results: dict[str, Any], plant: str) -> None:
    assert not _missed(results, f"{LABELS[plant]}: order")


@pytest.mark.parametrize("plant", PLANTS)
def test_mpc_is_at_or_below_the_papers_mpc_curve(results: dict[str, Any], plant: str) -> None:
    assert not _missed(results, f"{LABELS[plant]}: prediction error", "MPC, against")


def test_swing_up_after_mpc_calibration(results: dict[str, Any]) -> None:
    assert not _missed(results, "Pendulum: swing-up", "median return after MPC")
    assert not _missed(results, "Pendulum: swing-up", "failures after MPC")
    assert not _missed(results, "Pendulum: swing-up", "check of our ground truth")


def test_entropy_counts_quadrants(results: dict[str, Any]) -> None:
    assert not _missed(results, "Pendulum: quadrant entropy")


def test_toy_actions_are_chosen_where_they_tell_something(results: dict[str, Any]) -> None:
    assert not _missed(results, "Toy: entropy over actions")
    assert not _missed(results, "Toy: order of the schemes")


@pytest.mark.parametrize("plant", PLANTS)
def test_calibration_explores(results: dict[str, Any], plant: str) -> None:
    assert not _missed(results, f"{LABELS[plant]}: calibration rollouts")


def test_the_committed_report_is_about_the_shipped_models() -> None:
    path = ROOT / "report" / "results.json"
    assert path.is_file(), "no report in this checkout; ./ws evaluate writes one"
    reported = {model["name"]: model["hash"] for model in json.loads(path.read_text())["models"]}
    for plant in PLANTS:
        assert reported[plant] == load_manifest(ROOT / "models" / plant).model_hash, plant
