"""Planning: time of one MPC step (plain PyTorch, the paper's, the real-time planner) and quality of plans.

All in one run, so that ratios hold even where other programs take their share of the machine; absolute times
need an idle one. ``--systems 0`` measures speed only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explore_context.model import ContextModel, ModelError, SessionSettings
from explore_context.planning import (
    ExecutionSettings,
    ExpectedInformationGain,
    PaperPlannerSettings,
    PlannerSettings,
    default_calibration,
    load_planner_settings,
)
from explore_context.plants import get_plant
from explore_context_evaluation.benchmarks.planning_peak import loop_flops, matrix_product_peak
from explore_context_evaluation.benchmarks.planning_plain import (
    plain_network,
    time_plain_plan,
    untrained_model,
)
from explore_context_evaluation.benchmarks.planning_quality import Bench, compare_plans, paired
from explore_context_evaluation.benchmarks.planning_report import PAPERS_NETWORK, print_report
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
    p = parser()
    options = p.parse_args(argv)
    if options.systems < 0 or options.threads < 0 or options.repeats < 1:
        p.error("--systems and --threads must not be negative, --repeats must be at least 1")
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
    """One MPC step at the full horizon from the prior, where a calibration begins: with the model's own
    network and, for the paper's planner, with the paper's network too.

    The rows take turns and the fastest repeat of each counts, so that a busy minute of the machine does not
    fall on one of them alone.
    """
    torch.set_num_threads(bench.execution.threads)
    peak, rows = 0.0, dict[str, Row]()
    with tempfile.TemporaryDirectory() as folder:
        original = replace(bench, model=untrained_model(bench.model.manifest, "paper", Path(folder)))
        entrants = {
            "plain PyTorch": partial(_time_plain, bench, paper),
            "paper": partial(_time_plan, bench, paper),
            "real-time, first plan": partial(_time_plan, bench, realtime),
            f"plain PyTorch{PAPERS_NETWORK}": partial(_time_plain, original, paper),
            f"paper{PAPERS_NETWORK}": partial(_time_plan, original, paper),
        }
        for repeat in range(repeats):
            _say(f"speed, {repeat + 1} of {repeats}: matrix products, plain PyTorch, planners")
            peak = max(peak, matrix_product_peak(bench.execution.threads))
            for name, measure in entrants.items():
                row = measure()
                rows[name] = min(rows.get(name, row), row, key=lambda row: row["seconds"])
    for row in rows.values():
        row["share_of_peak"] = row["gflops"] / peak
    return {"peak_gflops": peak, "speed": rows}


def _start(bench: Bench) -> np.ndarray[Any, Any]:
    return bench.plant.observe(bench.plant.initial_state("calibration", np.random.default_rng(0), 1))[0]


def _row(bench: Bench, seconds: float, rows: int) -> Row:
    """``rows``: candidates x samples that were evaluated."""
    flops = loop_flops(bench.model.folder / "gain.onnx") * bench.settings.horizon * rows
    return Row(seconds=seconds, gflops=1e-9 * flops / seconds)


def _time_plain(bench: Bench, paper: PaperPlannerSettings) -> Row:
    reach = torch.tensor(bench.plant.spec.action_high, dtype=torch.float32)
    start = torch.tensor(_start(bench), dtype=torch.float32)
    network = plain_network(bench.model.manifest)
    seconds = time_plain_plan(network, start, bench.settings.horizon, reach, paper)
    return _row(bench, seconds, paper.iterations * paper.candidates * paper.samples)


def _time_plan(bench: Bench, settings: PlannerSettings) -> Row:
    planner, prior, rng = bench.planner(settings), bench.model.prior, np.random.default_rng(0)
    gain = ExpectedInformationGain(bench.model, bench.execution)
    samples, finalist = (
        prior.mean + prior.std * planner.draw(rng, n, len(prior.mean))
        for n in (planner.samples, max(1, planner.finalist_samples))
    )
    refined = finalist if planner.finalist_samples else None
    remaining = bench.settings.transitions if bench.settings.reacts else 0
    objective = gain.bind(_start(bench), prior, samples, refined, remaining)
    begin = time.perf_counter()
    plan = planner.plan(objective, bench.settings.horizon, rng)
    return _row(bench, time.perf_counter() - begin, plan.evaluations * planner.samples)


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
