"""Units of work on the shipped pendulum model, with a tiny planner."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from explore_context.planning import PaperPlannerSettings, load_planner_settings, make_planner
from explore_context.plants import get_plant, simulate
from explore_context.plants.pendulum import Pendulum, quadrant, simulation_step
from explore_context_evaluation.models import ModelReference, find_models, load_model
from explore_context_evaluation.statistics import coverage, error_curve, rank_correlation, rounded
from explore_context_evaluation.units import (
    CalibrationRun,
    EntropyAndError,
    GroundTruthEpisode,
    PredictiveCoverage,
    QuadrantEntropy,
    SwingUpEpisode,
)
from explore_context_evaluation.units.beliefs import transitions_in_quadrant
from explore_context_evaluation.units.swing_up import GroundTruthSwingUp

TINY = PaperPlannerSettings(iterations=2, candidates=12, elites=4, samples=3)


@pytest.fixture(scope="module")
def model() -> ModelReference:
    return find_models(Path(__file__).parents[2] / "models").choose("pendulum", 1)[0]


def _run(model: ModelReference, **changes: object) -> CalibrationRun:
    unit = CalibrationRun(model, 0, "mpc", TINY, transitions=4, rollouts=1, test_rollouts=2, seed=1)
    return dataclasses.replace(unit, **changes)  # type: ignore[arg-type]


def test_a_calibration_run_is_deterministic_and_complete(model: ModelReference) -> None:
    first, second = _run(model).run([]), _run(model).run([])
    for name, value in first.items():
        if name != "seconds":
            np.testing.assert_array_equal(value, second[name], err_msg=name)
    assert first["errors"].shape == (1, 2, 50)
    assert first["entropy"].shape == (5,)
    assert first["states"].shape == (1, 5, 2)
    assert first["entropy"][0] == pytest.approx(load_model(model).prior.entropy)


def test_schemes_meet_the_same_system_and_initial_state(model: ModelReference) -> None:
    mpc = _run(model).run([])
    random = _run(model, scheme="random", planner=None).run([])
    other = _run(model, system=1).run([])
    np.testing.assert_array_equal(mpc["context"], random["context"])
    np.testing.assert_array_equal(mpc["states"][0, 0], random["states"][0, 0])
    assert not np.array_equal(mpc["actions"], random["actions"])
    assert not np.array_equal(mpc["context"], other["context"])


def test_the_first_of_three_rollouts_is_the_single_rollout(model: ModelReference) -> None:
    one, three = _run(model).run([]), _run(model, rollouts=3).run([])
    np.testing.assert_array_equal(one["errors"][0], three["errors"][0])
    assert three["errors"].shape[0] == 3
    assert three["entropy"].shape == (13,)
    assert (np.diff(one["entropy"]) <= 1e-4).all()
    assert (np.diff(three["entropy"]) <= 1e-4).all()


def test_swing_up_uses_the_belief_of_its_calibration(model: ModelReference) -> None:
    calibration = _run(model)
    unit = SwingUpEpisode(calibration, TINY)
    assert unit.needs == (calibration,)
    record = unit.run([calibration.run([])])
    assert record["angle"].shape == (51,)
    assert abs(record["angle"][0]) == pytest.approx(np.pi, abs=0.06)
    assert record["return_"] < 0


def test_ground_truth_planning_predicts_what_happens() -> None:
    plant, rng = Pendulum(), np.random.default_rng(0)
    context = np.array([1.5, -0.7, 0.9, -1.1])
    planner = make_planner(TINY, plant.spec.action_low, plant.spec.action_high)
    swing_up = GroundTruthSwingUp(plant, context, planner, seed=0)
    state = np.array([[2.0, -1.0]])
    actions = rng.uniform(-2, 2, (3, 20, 1))
    scores = swing_up.objective(plant.observe(state)[0])(actions.astype(np.float32))
    for k in range(3):
        done = simulate(plant, state, actions[k : k + 1], context[None], rng).observations[0, 1:]
        angle = np.arctan2(done[:, 1], done[:, 0])
        cost = angle**2 + 0.1 * done[:, 2] ** 2 + 0.001 * actions[k, :, 0] ** 2
        assert scores[k] == pytest.approx(-cost.sum(), rel=1e-4)


def test_the_nominal_planner_swings_up() -> None:
    """Against the paper's about -216."""
    record = GroundTruthEpisode(0, True, load_planner_settings("swing_up"), seed=1).run([])
    assert abs(record["angle"][-1]) < 0.3
    assert -235 < record["return_"] < -200


@pytest.mark.parametrize("index", range(4))
def test_transitions_stay_in_their_quadrant(index: int) -> None:
    plant, rng = Pendulum(), np.random.default_rng(index)
    context = np.array([[2.0, -2.0, 2.0, -2.0]])
    state, action, following = transitions_in_quadrant(plant, context, index, 15, rng)
    middle, _ = simulation_step(state[:, 0], state[:, 1], action[:, 0] * context[0, index])
    for angle in (state[:, 0], middle, following[:, 0]):
        assert (quadrant(angle) == index).all()
    assert (abs(action) <= 1).all()
    np.testing.assert_allclose(plant.step(state, action, np.repeat(context, 15, axis=0), rng), following)


def test_quadrant_entropy_starts_at_the_prior(model: ModelReference) -> None:
    entropy = QuadrantEntropy(model, 0, seed=1).run([])["entropy"]
    assert entropy.shape == (61,)
    assert entropy[0] == pytest.approx(load_model(model).prior.entropy)
    assert entropy[-1] < entropy[0]


def test_entropy_and_error(model: ModelReference) -> None:
    record = EntropyAndError(model, 0, (1, 20), test_rollouts=2, seed=1).run([])
    assert record["errors"].shape == (2, 50)
    assert record["entropy"][1] < record["entropy"][0]


def test_coverage_of_the_mixture(model: ModelReference) -> None:
    calibration = _run(model, scheme="random", planner=None, transitions=10)
    record = PredictiveCoverage(calibration, (1, 5), samples=8).run([calibration.run([])])
    for mode in ("with_belief", "mean_only"):
        assert record[mode].shape == (2, 2, get_plant("pendulum").spec.observation_dim)
        assert ((record[mode] >= 0) & (record[mode] <= 1)).all()


def test_coverage_of_honest_and_overconfident_predictions() -> None:
    uniform = (np.arange(1000) + 0.5) / 1000
    assert coverage(uniform, 0.9) == pytest.approx(0.9, abs=2e-3)
    assert coverage(np.round(uniform), 0.9) == 0.0


def test_statistics() -> None:
    errors = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
    curve = error_curve(errors)
    assert curve["mean"] == [4.0, 5.0]
    assert curve["standard_error"] == [2.0, 2.0]
    assert error_curve(errors[:1])["standard_error"] is None
    assert rank_correlation([1, 2, 3], [10, 20, 1000]) == 1.0
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    assert rounded([1 / 3, 2e-9 / 3]) == [0.333333, 6.66667e-10]
