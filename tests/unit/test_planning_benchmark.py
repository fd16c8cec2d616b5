"""The planning benchmark's parts: what it counts, compares and judges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.helpers.small_model import SMALL, export_small_model, small_network

from explore_context.model import ContextModel
from explore_context.planning import (
    CalibrationSettings,
    ExecutionSettings,
    ExpectedInformationGain,
    PaperPlannerSettings,
    RealtimePlannerSettings,
    make_planner,
)
from explore_context.plants import get_plant
from explore_context_evaluation.benchmarks.planning import main, measure_quality, measure_speed, parser
from explore_context_evaluation.benchmarks.planning_others import installed_optimisers
from explore_context_evaluation.benchmarks.planning_peak import loop_flops
from explore_context_evaluation.benchmarks.planning_plain import expected_gain, plain_network, time_plain_plan
from explore_context_evaluation.benchmarks.planning_quality import Bench, paired
from explore_context_evaluation.benchmarks.planning_report import bars, print_report

PAPER = PaperPlannerSettings(iterations=2, candidates=12, elites=3, samples=2)
QUICK = RealtimePlannerSettings(iterations=2, candidates=6, first_iterations=1, first_candidates=6, samples=2)


@pytest.fixture(scope="module", params=["residual", "gru"])
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(variant: str, tmp_path_factory: pytest.TempPathFactory) -> ContextModel:
    return export_small_model(tmp_path_factory.mktemp("model") / "pendulum", variant)


def test_the_plain_baseline_computes_the_same_gain(model: ContextModel, variant: str) -> None:
    rng = np.random.default_rng(0)
    state = np.array([-1.0, 0.1, 0.5], np.float32)
    beta = model.prior.sample(rng, 3)
    actions = rng.uniform(-2, 2, (5, 4, 1)).astype(np.float32)
    network = small_network(variant)
    with torch.no_grad():
        plain = expected_gain(network, *(torch.from_numpy(a) for a in (state, beta, actions)))
    ours = ExpectedInformationGain(model).bind(state, model.prior, beta)(actions)
    np.testing.assert_allclose(ours, plain.numpy(), rtol=1e-4, atol=1e-4)


def test_the_plain_baseline_has_the_manifests_architecture(model: ContextModel, variant: str) -> None:
    network = plain_network(model.manifest)
    assert network.settings == SMALL[variant]
    assert time_plain_plan(network, torch.zeros(3), 3, torch.tensor([2.0]), PAPER) > 0.0


def test_speed_is_measured_with_the_models_network_and_the_papers(model: ContextModel) -> None:
    settings = CalibrationSettings("mpc", transitions=3, horizon=2)
    bench = Bench(model, get_plant("pendulum"), settings, ExecutionSettings(workers=1))
    result = measure_speed(bench, PAPER, QUICK, repeats=1)
    rows = result["speed"]
    assert set(rows) == {
        "plain PyTorch",
        "paper",
        "real-time, first plan",
        "plain PyTorch, paper's network",
        "paper, paper's network",
    }
    assert all(0.0 < row["share_of_peak"] < 1.0 for row in rows.values())
    # The same number of candidates; the paper's network is much larger than the small one.
    work = {name: row["seconds"] * row["gflops"] for name, row in rows.items()}
    assert work["paper, paper's network"] > 10 * work["paper"]
    # Ours also scores the mean that it returns.
    assert work["paper"] == pytest.approx(work["plain PyTorch"], rel=0.05)


def test_flops_are_those_of_the_loops_products(tmp_path: Path) -> None:
    model = export_small_model(tmp_path / "pendulum", "residual")
    # x (3) -> 24 -> 24 -> 3; two selections 7 -> 35; 35 -> 20 -> 20 -> 16
    products = 3 * 24 + 24 * 24 + 24 * 3 + 2 * 7 * 35 + 35 * 20 + 20 * 20 + 20 * 16
    assert loop_flops(model.folder / "gain.onnx") == 2 * products


def test_quality_compares_both_planners_on_the_same_systems(
    model: ContextModel,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("EXPLORE_CONTEXT_CACHE", str(tmp_path))
    settings = CalibrationSettings("mpc", transitions=8, horizon=3)
    bench = Bench(model, get_plant("pendulum"), settings, ExecutionSettings(workers=1))
    result = measure_quality(bench, PAPER, QUICK, 2, deadline_ms=1e-6)
    assert result["cut_short"] == 1.0
    assert result["plans"]["paper"]["gain_ratio"] == 1.0
    assert {"real-time", "real-time, no warm start"} <= set(result["plans"])
    assert result["latency_ms"]["realtime"]["p99"] > 0.0
    speed = {"seconds": 1.0, "gflops": 10.0, "share_of_peak": 0.5}
    result |= {"plant": "pendulum", "model": "x", "threads": 1, "horizon": 3, "peak_gflops": 20.0}
    result["speed"] = {
        "plain PyTorch": {**speed, "seconds": 4.0},
        "paper": speed,
        "real-time, first plan": speed,
        "plain PyTorch, paper's network": {**speed, "seconds": 2.0},
        "paper, paper's network": speed,
    }
    print_report(result)
    text = capsys.readouterr().out
    assert "100.0% of plans cut short" in text
    faster = "the paper's planner is at least 3 times faster than plain PyTorch"
    assert f"  met      {faster}, model's own network" in text
    assert f"  NOT MET  {faster}, paper's network" in text
    assert "NOT MET  and reaches at least 60 %" in text
    assert len(bars(result)) == 11


def test_the_papers_calibrations_are_computed_once(
    model: ContextModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EXPLORE_CONTEXT_CACHE", str(tmp_path))
    settings = CalibrationSettings("mpc", transitions=3, horizon=2)
    bench = Bench(model, get_plant("pendulum"), settings, ExecutionSettings(workers=1))
    systems = bench.test_systems(2)
    first = bench.calibrate(PAPER, systems[:1], "")
    both = bench.calibrate(PAPER, systems, "")
    # Times are measured anew only where something is computed anew.
    np.testing.assert_array_equal(both.runs[0].seconds, first.runs[0].seconds)
    np.testing.assert_array_equal(both.runs[0].beliefs[-1].mean, first.runs[0].beliefs[-1].mean)
    longer = replace(settings, transitions=4)
    other = Bench(model, bench.plant, longer, bench.execution).calibrate(PAPER, systems[:1], "")
    assert len(other.runs[0].plans) == 4
    fast = [bench.calibrate(QUICK, systems[:1], "").runs[0].seconds for _ in range(2)]
    assert (fast[0] != fast[1]).any()


def test_paired_differences_know_their_error() -> None:
    first = np.array([1.0, 2.0, 3.0, 4.0])
    assert paired(first, first - 1.0)["not_worse"] == 1.0
    assert paired(first, first + np.array([0.9, 1.0, 1.1, 1.0]))["not_worse"] == 0.0
    assert paired(first, first + np.array([1.0, -1.0, 1.0, -1.0]))["not_worse"] == 1.0


def test_options() -> None:
    options = parser().parse_args(["--plant", "mountain_car", "--systems", "3", "--json", "out.json"])
    assert (options.plant, options.systems, options.json) == ("mountain_car", 3, Path("out.json"))


@pytest.mark.parametrize("arguments", [["--systems", "-1"], ["--threads", "-1"], ["--repeats", "0"]])
def test_numbers_that_make_no_sense_are_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert "must not be negative" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["pytorch-icem", "pytorch-mppi", "torchrl CEM"])
def test_optimisers_of_other_libraries_keep_the_budget(name: str) -> None:
    optimise = installed_optimisers().get(name)
    if optimise is None:
        pytest.skip(f"{name} is not installed")
    planner = make_planner(QUICK, [-2.0], [2.0])
    target = np.linspace(-1, 1, 5)[:, None]
    asked = []

    def objective(candidates: np.ndarray) -> np.ndarray:
        asked.append(len(candidates))
        return -((candidates - target) ** 2).sum(axis=(1, 2)).astype(np.float32)

    actions = optimise(objective, 5, planner.low, planner.high, 300, 0)
    assert actions.shape == (5, 1) and np.abs(actions).max() <= 2.0
    assert sum(asked) <= 310
