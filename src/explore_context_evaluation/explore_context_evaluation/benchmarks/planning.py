"""Planning: time of one MPC step (plain PyTorch, the paper's, the real-time planner) and quality of plans.

All in one run, so that ratios hold even where other programs take their share of the machine; absolute times
need an idle one. ``--systems 0`` measures speed only.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explore_context.model import ContextModel, ModelError, SessionSettings
from explore_context.planning import (
    ExecutionSettings,
    ExpectedInformationGain,
    PaperPlannerSettings,
    Planner,
    PlannerSettings,
    default_calibration,
    load_planner_settings,
)
from explore_context.plants import get_plant
from explore_context_evaluation.benchmarks.planning_peak import loop_flops, matrix_product_peak
from explore_context_evaluation.benchmarks.planning_plain import plain_network, time_plain_plan
from explore_context_evaluation.benchmarks.planning_quality import Bench, compare_plans, paired
from explore_context_evaluation.benchmarks.planning_report import print_report
from explore_context_evaluation.paths import model_folder

Row = dict[str, float]
# Real-time plans are cheap, and a 99th percentile needs many: so many systems at least, however few compared.
_LATENCY_SYSTEMS = 20


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="bench planning", description=(__doc__ or "").split("\n")[0])
    p.add_argument("--plant", default="pendulum", choices=("pendulum", "mountain_car"))
    p.add_argument("--model", type=Path, help="model folder (default: models/<plant>)")
    p.add_argument("--systems", type=int, default=20, help="systems that are calibrated with both planners")
    p.add_argument(
        "--planner", default="realtime", help="settings of the real-time planner: a name or a file"
    )
    p.add_argument(
        "--deadline",
        type=float,
        default=32.0,
        help="ms after which the real-time planner begins nothing more, as on a robot; 0: none (default: 32)",
    )
    p.add_argument("--threads", type=int, default=0, help="0: one per core, at most 8")
    p.add_argument("--repeats", type=int, default=3, help="plans per timed row; the fastest counts")
    p.add_argument("--json", type=Path, help="also write all numbers to this file")
    return p


def main(argv: list[str] | None = None) -> int:
    options = parser().parse_args(argv)
    plant = get_plant(options.plant)
    try:
        folder = options.model or model_folder(options.plant)
        model = ContextModel.load(folder, SessionSettings("cpu"), plant.spec)
        realtime = load_planner_settings(options.planner)
    except (ModelError, ValueError) as error:
        print(f"bench planning: {error}", file=sys.stderr)
        return 1
    bench = Bench(model, plant, default_calibration(options.plant), ExecutionSettings(options.threads))
    result: dict[str, Any] = {
        "plant": options.plant,
        "model": model.model_hash,
        "threads": bench.execution.threads,
        "horizon": bench.settings.horizon,
    }
    settings = load_planner_settings("paper")
    assert isinstance(settings, PaperPlannerSettings)
    result |= measure_speed(bench, settings, realtime, options.repeats)
    if options.systems > 0:
        result |= measure_quality(bench, settings, realtime, options.systems, options.deadline)
    print_report(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


def measure_speed(
    bench: Bench, paper: PaperPlannerSettings, realtime: PlannerSettings, repeats: int
) -> dict[str, Any]:
    """One MPC step at the full horizon from the prior, where a calibration begins.

    The rows take turns and the fastest repeat of each counts, so that a busy minute of the machine does not
    fall on one of them alone.
    """
    threads, horizon, model = bench.execution.threads, bench.settings.horizon, bench.model
    row_flops = loop_flops(model.folder / "gain.onnx") * horizon
    state = bench.plant.observe(bench.plant.initial_state("calibration", np.random.default_rng(0), 1))[0]
    torch.set_num_threads(threads)
    network = plain_network(model.manifest)
    reach = torch.tensor(bench.plant.spec.action_high, dtype=torch.float32)
    start = torch.tensor(state, dtype=torch.float32)
    time_plain_plan(network, start, horizon, reach, PaperPlannerSettings(1, 1000, 100, 20))
    planners = {"paper": bench.planner(paper), "real-time, first plan": bench.planner(realtime)}
    for planner in planners.values():
        _time_plan(bench, planner, state, 0, row_flops)
    work = 1e-9 * paper.iterations * paper.candidates * paper.samples * row_flops
    peak, rows = 0.0, dict.fromkeys(("plain PyTorch", *planners), Row(seconds=np.inf))
    for repeat in range(1, repeats + 1):
        _say(f"speed, {repeat} of {repeats}: matrix products, plain PyTorch, both planners")
        peak = max(peak, matrix_product_peak(threads))
        plain = time_plain_plan(network, start, horizon, reach, paper)
        found = {"plain PyTorch": Row(seconds=plain, gflops=work / plain)}
        for name, planner in planners.items():
            found[name] = _time_plan(bench, planner, state, repeat, row_flops)
        rows = {name: min(rows[name], found[name], key=lambda row: row["seconds"]) for name in rows}
    for row in rows.values():
        row["share_of_peak"] = row["gflops"] / peak
    return {"peak_gflops": peak, "speed": rows}


def _time_plan(
    bench: Bench, planner: Planner, state: np.ndarray[Any, Any], seed: int, row_flops: int
) -> Row:
    gain = ExpectedInformationGain(bench.model, bench.execution)
    prior, rng = bench.model.prior, np.random.default_rng(seed)
    samples, finalist = (
        prior.mean + prior.std * planner.draw(rng, n, len(prior.mean))
        for n in (planner.samples, max(1, planner.finalist_samples))
    )
    objective = gain.bind(state, prior, samples, finalist if planner.finalist_samples else None)
    planner.reset()
    begin = time.perf_counter()
    plan = planner.plan(objective, bench.settings.horizon, rng)
    seconds = time.perf_counter() - begin
    return Row(seconds=seconds, gflops=1e-9 * plan.evaluations * planner.samples * row_flops / seconds)


def measure_quality(
    bench: Bench, paper: PaperPlannerSettings, realtime: PlannerSettings, number: int, deadline_ms: float
) -> dict[str, Any]:
    """Whole calibrations on ``number`` unseen systems with both planners, and plans from the same states.

    Only the real-time planner has a deadline: what it costs in quality is part of the comparison.
    """
    systems = bench.test_systems(max(number, _LATENCY_SYSTEMS))
    deadline = 1e-3 * deadline_ms if deadline_ms > 0 else None
    timed = bench.calibrate(realtime, systems, "real-time planner", deadline)
    slow = bench.calibrate(paper, systems[:number], "paper's planner")
    fast = timed.first(number)
    plans = compare_plans(bench, slow.runs, realtime, deadline)
    horizons = (1, 10, 20, 50)
    return {
        "systems": number,
        "deadline_ms": deadline_ms,
        "cut_short": timed.cut_short,
        "latency_ms": {
            name: {f"p{q}": float(np.percentile(outcome.milliseconds, q)) for q in (50, 90, 99, 100)}
            for name, outcome in (("paper", slow), ("realtime", timed))
        },
        "plans": plans,
        "entropy": paired(slow.entropy, fast.entropy),
        "prediction_error": {
            f"horizon_{h}": paired(slow.errors[:, h - 1], fast.errors[:, h - 1]) for h in horizons
        }
        | {"mean over horizons": paired(slow.errors.mean(axis=1), fast.errors.mean(axis=1))},
    }


def _say(text: str) -> None:
    print(f"measuring: {text}", file=sys.stderr, flush=True)
