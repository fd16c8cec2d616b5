"""Tuning: whole calibrations of many systems with several planner settings, compared pair by pair.

The way of one calibration is a matter of luck: on the same car two runs differ by a nat. So settings are
compared on the same systems, with the standard error of the mean difference beside it; a difference within
two of them is none. The systems are neither those of ``bench planning`` nor of the evaluation. No plan has a
deadline, so that a result does not depend on the machine. Beside it stands what plans promise (their expected
gain) and what really comes within their horizon: where more is promised than comes, the search has found how
to please its objective.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from tqdm import tqdm

from explore_context.model import ContextModel, ModelError, SessionSettings
from explore_context.planning import (
    Calibration,
    CalibrationSettings,
    ExecutionSettings,
    PlannerSettings,
    default_calibration,
    load_planner_settings,
    make_planner,
)
from explore_context.planning.simulated import SimulatedCalibration, calibrate_simulated
from explore_context.plants import Plant, get_plant
from explore_context_evaluation.benchmarks.planning_quality import paired
from explore_context_evaluation.paths import model_folder
from explore_context_evaluation.prediction import make_test_system, prediction_errors

_SYSTEM_SEED = 6_100_000
_ROLLOUTS = 20


@dataclass(frozen=True)
class Tuned:
    """Calibrations with one planner's settings, one entry per system."""

    entropy: NDArray[np.float64]  # nats, at the end
    error: NDArray[np.float64]  # squared prediction error, mean over horizons 1 to 50
    milliseconds: NDArray[np.float64]  # median over the plans, one thread
    promised: NDArray[np.float64]  # expected gain, nats, mean over the plans
    came: NDArray[np.float64]  # what was gained within their horizons, though planned anew at every step


def calibrate_all(
    folder: Path, plant_name: str, calibration: CalibrationSettings, planner: PlannerSettings, systems: int
) -> Tuned:
    """MPC calibrations of the first ``systems`` systems, as many at a time as there are cores."""
    one = partial(_calibrate, folder, plant_name, calibration, planner)
    results = Parallel(n_jobs=-1, return_as="generator")(delayed(one)(k) for k in range(systems))
    return Tuned(*np.array(list(tqdm(results, total=systems, file=sys.stderr, leave=False))).T)


def _calibrate(
    folder: Path, plant_name: str, settings: CalibrationSettings, planner: PlannerSettings, index: int
) -> tuple[float, ...]:
    """The fields of ``Tuned`` for one system; its seed is the same for all."""
    plant, model = _loaded(folder, plant_name)
    search = make_planner(planner, plant.spec.action_low, plant.spec.action_high)
    calibration = Calibration(model, settings, search, index, execution=ExecutionSettings(workers=1))
    system = make_test_system(plant, index, _ROLLOUTS, _SYSTEM_SEED)
    rng = np.random.default_rng([_SYSTEM_SEED, index, 1])
    run = calibrate_simulated(plant, system.context[0], calibration, rng)
    error = prediction_errors(model, system, run.belief).mean()
    promised, came = (float(np.mean(gains)) for gains in promises(run))
    return run.belief.entropy, float(error), 1e3 * float(np.median(run.seconds)), promised, came


def promises(run: SimulatedCalibration) -> tuple[list[float], list[float]]:
    """Expected gain of every plan of a calibration of one rollout, and what came until its last action."""
    entropy = [belief.entropy for belief in run.beliefs]
    came = [entropy[step] - entropy[step + len(plan.actions)] for step, plan in enumerate(run.plans)]
    return [plan.score for plan in run.plans], came


@cache
def _loaded(folder: Path, plant_name: str) -> tuple[Plant, ContextModel]:
    """Once per process."""
    plant = get_plant(plant_name)
    return plant, ContextModel.load(folder, SessionSettings("cpu", threads=1), plant.spec)


def print_table(found: dict[str, Tuned]) -> None:
    """A row per planner; its differences to the first with their standard errors."""
    first, reference = next(iter(found.items()))
    print(f"\n{len(reference.entropy)} systems, differences to {first}")
    print(
        f"{'planner':<32}{'ms':>7}{'entropy, nats':>15}{'difference':>18}{'error':>10}{'difference':>20}"
        f"{'promised':>10}{'came':>8}"
    )
    for name, tuned in found.items():
        entropy = _difference(reference.entropy, tuned.entropy, 2)
        error = _difference(reference.error, tuned.error, 4)
        print(
            f"{name[-31:]:<32}{np.median(tuned.milliseconds):>7.1f}"
            f"{tuned.entropy.mean():>15.2f}{entropy:>18}{tuned.error.mean():>10.4f}{error:>20}"
            f"{tuned.promised.mean():>10.2f}{tuned.came.mean():>8.2f}"
        )


def _difference(reference: NDArray[np.float64], values: NDArray[np.float64], digits: int) -> str:
    pair = paired(reference, values)
    return f"{pair['difference']:+.{digits}f} ± {pair['standard_error']:.{digits}f}"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="bench tuning", description=(__doc__ or "").split("\n\n")[0])
    p.add_argument(
        "planners", nargs="*", default=["realtime"], help="names or YAML files; the first is the reference"
    )
    p.add_argument("--plant", default="pendulum", choices=("pendulum", "mountain_car"))
    p.add_argument("--model", type=Path, help="model folder (default: models/<plant>)")
    p.add_argument("--systems", type=int, default=100)
    return p


def main(argv: Sequence[str]) -> int:
    p = parser()
    options = p.parse_args(argv)
    if options.systems < 2:
        p.error("--systems must be at least 2")
    folder = options.model or model_folder(options.plant)
    try:
        _loaded(folder, options.plant)
        planners = {name: load_planner_settings(name) for name in options.planners}
    except (ModelError, ValueError) as error:
        print(f"bench tuning: {error}", file=sys.stderr)
        return 1
    found = {}
    for name, settings in planners.items():
        print(f"calibrating with {name}", file=sys.stderr)
        calibration = default_calibration(options.plant)
        found[name] = calibrate_all(folder, options.plant, calibration, settings, options.systems)
    print_table(found)
    return 0
