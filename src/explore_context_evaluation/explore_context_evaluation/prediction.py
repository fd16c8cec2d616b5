"""Prediction error of an exported model on unseen systems, given informative transitions: no planner
involved.

``python -m explore_context_evaluation.prediction <plant>`` evaluates 50 unseen systems with 20 random
rollouts each, horizons 1..50, and writes
the table into the model's manifest. The error is the paper's: squared error averaged over the state's
dimensions.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from explore_context.model import Belief, ContextModel, ModelError, SessionSettings
from explore_context.plants import Plant, get_plant, plant_names, random_rollouts
from explore_context.plants.toy import Toy
from explore_context_evaluation.paths import model_folder

Array = NDArray[np.float64]

HORIZON = 50
# Transitions of the paper's calibrations: what a model is given here too.
TRANSITIONS = {"pendulum": 30, "mountain_car": 50}
DEFAULT_TRANSITIONS = 1
# Far from the seeds of training and validation.
EVALUATION_SEED = 9_000_000
REPORTED_HORIZONS = (1, 2, 3, 5, 10, 15, 20, 30, 50)


@dataclasses.dataclass(frozen=True)
class TestSystem:
    """One unseen system: hidden parameters (1, C), rollouts' observations (R, 51, X) and actions (R, 50,
    U).
    """

    index: int
    context: Array
    observations: Array
    actions: Array


def make_test_systems(
    plant: Plant, systems: int, rollouts: int, seed: int = EVALUATION_SEED
) -> list[TestSystem]:
    """The first ``systems`` of an endless list: system k is the same whatever the number asked for."""
    return [make_test_system(plant, k, rollouts, seed) for k in range(systems)]


def make_test_system(plant: Plant, index: int, rollouts: int, seed: int = EVALUATION_SEED) -> TestSystem:
    """System ``index`` of that list."""
    rng = np.random.default_rng([seed, index])
    context = plant.sample_context(rng, 1)
    data = random_rollouts(plant, np.repeat(context, rollouts, axis=0), HORIZON, rng)
    return TestSystem(index, context, data.observations, data.actions)


def informative_transitions(
    plant: Plant, context: Array, number: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Transitions x, u, x+ (number, .) from fresh training states with uniform actions.

    A toy system shows its parameter only to some actions: there they start at rest, as a calibration does,
    and are drawn from those with at least nine tenths of the largest effect, as a planned one chooses them.
    """
    if isinstance(plant, Toy):
        state = plant.initial_state("calibration", rng, number)
        action = _effective_actions(plant, number, rng)
    else:
        state = plant.initial_state("training", rng, number)
        action = plant.sample_actions(rng, (number,))
    following = plant.step(state, action, np.repeat(context, number, axis=0), rng)
    return plant.observe(state), action, plant.observe(following)


def _effective_actions(plant: Toy, number: int, rng: np.random.Generator) -> Array:
    drawn = plant.sample_actions(rng, (400 * number + 400,))
    return drawn[plant.squash(drawn[:, 0]) >= 0.9][:number]


def prediction_errors(model: ContextModel, system: TestSystem, belief: Belief) -> Array:
    """Squared error averaged over state dimensions, (R, 50), with the mean of the belief."""
    mean, _ = model.predict(system.observations[:, 0], system.actions, belief.mean)
    squared: Array = ((mean - system.observations[:, 1:]) ** 2).mean(axis=2)
    return squared


def evaluate(
    model: ContextModel, plant: Plant, systems: Sequence[TestSystem], transitions: int
) -> dict[str, object]:
    """Mean error by horizon after ``transitions`` informative transitions, and the belief's entropy."""
    errors, entropies = [], []
    for system in tqdm(systems, desc=f"{plant.spec.name}: unseen systems", unit="system", file=sys.stderr):
        rng = np.random.default_rng([EVALUATION_SEED, 1, system.index])
        belief = model.belief(*informative_transitions(plant, system.context, transitions, rng))
        errors.append(prediction_errors(model, system, belief))
        entropies.append(belief.entropy)
    curve = np.concatenate(errors).mean(axis=0)
    return {
        "systems": len(systems),
        "rollouts_per_system": len(systems[0].actions),
        "transitions": transitions,
        "mse": {f"horizon_{h}": _rounded(curve[h - 1]) for h in REPORTED_HORIZONS},
        "mse_mean_over_horizons": _rounded(curve.mean()),
        "entropy_prior": _rounded(model.prior.entropy),
        "entropy_mean": _rounded(float(np.mean(entropies))),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _command(options: argparse.Namespace) -> str:
    """What repeats the table, by someone who stands in the checkout; defaults are left out."""
    words = ["python -m explore_context_evaluation.prediction", options.plant]
    for name, default in (("model", None), ("systems", 50), ("rollouts", 20), ("transitions", None)):
        if (value := getattr(options, name)) != default:
            words.append(f"--{name} {value}")
    return " ".join(words)


def main(arguments: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="prediction", description=(__doc__ or "").split("\n")[0])
    p.add_argument("plant", help="one of " + ", ".join(plant_names()))
    p.add_argument("--model", type=Path, help="model folder (default: models/<plant>)")
    p.add_argument("--systems", type=int, default=50)
    p.add_argument("--rollouts", type=int, default=20)
    p.add_argument(
        "--transitions", type=int, help="context transitions (default: 30 pendulum, 50 mountain car, 1 toys)"
    )
    p.add_argument("--no-write", action="store_true", help="do not write the table into the manifest")
    options = p.parse_args(arguments)
    if min(options.systems, options.rollouts) < 1 or (options.transitions or 0) < 0:
        p.error("--systems and --rollouts must be at least 1, --transitions must not be negative")
    try:
        plant = get_plant(options.plant)
        folder = options.model or model_folder(options.plant)
        model = ContextModel.load(folder, SessionSettings(provider="cpu"), plant.spec)
    except (ModelError, ValueError) as error:
        print(f"prediction: {error}", file=sys.stderr)
        return 1
    transitions = options.transitions
    if transitions is None:
        transitions = TRANSITIONS.get(options.plant, DEFAULT_TRANSITIONS)
    systems = make_test_systems(plant, options.systems, options.rollouts)
    table = {"command": _command(options), **evaluate(model, plant, systems, transitions)}
    print(f"{folder} ({model.model_hash}): {len(systems)} systems, {transitions} transitions given")
    for name, value in {**table["mse"], "mean over 1..50": table["mse_mean_over_horizons"]}.items():  # type: ignore[dict-item]
        print(f"  {name:>16}  {value:.4g}")
    print(f"  entropy {table['entropy_prior']} -> {table['entropy_mean']} nats")
    if not options.no_write:
        manifest = dataclasses.replace(
            model.manifest, evaluation={**model.manifest.evaluation, "prediction": table}
        )
        manifest.save(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
