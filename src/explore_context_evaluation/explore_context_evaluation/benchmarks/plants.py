"""How many transitions per second each plant simulates, batched, on one core."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from explore_context.plants import Plant, get_plant, plant_names


@dataclass(frozen=True)
class PlantSpeed:
    """``transitions_per_second`` of the fastest repetition: what the code can do."""

    plant: str
    systems: int
    transitions_per_second: float


def measure(plant: Plant, systems: int, seconds: float) -> PlantSpeed:
    """Step ``systems`` systems for about ``seconds`` and take the best step."""
    rng = np.random.default_rng(0)
    state, context = plant.initial_state("training", rng, systems), plant.sample_context(rng, systems)
    action = plant.sample_actions(rng, (systems,))
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or not np.isfinite(best):
        start = time.perf_counter()
        state = plant.step(state, action, context, rng)
        best = min(best, time.perf_counter() - start)
    return PlantSpeed(plant.spec.name, systems, systems / best)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks plants", description=__doc__)
    parser.add_argument("--plant", choices=plant_names(), action="append", help="only this one (repeatable)")
    parser.add_argument("--systems", type=int, default=100_000, help="systems simulated at once")
    parser.add_argument("--seconds", type=float, default=1.0, help="time per plant")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args(argv)
    results = [
        measure(get_plant(name), options.systems, options.seconds) for name in options.plant or plant_names()
    ]
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return 0
    print(f"{'plant':<24}{'systems':>10}{'million transitions/s':>24}")
    for result in results:
        print(f"{result.plant:<24}{result.systems:>10}{result.transitions_per_second / 1e6:>24.2f}")
    return 0
