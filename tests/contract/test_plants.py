"""What every registered plant promises, one suite for all of them, another package's plants included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explore_context.plants import Plant, get_plant, plant_names, random_rollouts

SYSTEMS = 64


@pytest.fixture(params=plant_names())
def plant(request: pytest.FixtureRequest) -> Plant:
    return get_plant(request.param)


def batch(plant: Plant, seed: int, n: int = SYSTEMS, mode: str = "training"):
    """State, action and context of n systems."""
    rng = np.random.default_rng(seed)
    return plant.initial_state(mode, rng, n), plant.sample_actions(rng, (n,)), plant.sample_context(rng, n)


def named_batch(plant: Plant, seed: int) -> dict[str, Any]:
    return dict(zip(("state", "action", "context"), batch(plant, seed), strict=True))


def test_specification_is_complete(plant: Plant) -> None:
    spec = plant.spec
    assert spec.name in plant_names()
    assert spec.dt > 0
    assert {"training", "calibration"} <= set(spec.initial_state_modes)
    assert len(spec.action_low) == len(spec.action_high) == spec.action_dim > 0
    assert len(spec.observation_low) == len(spec.observation_high) == spec.observation_dim > 0
    assert np.all(np.array(spec.action_low) < np.array(spec.action_high))
    assert np.all(np.array(spec.observation_low) < np.array(spec.observation_high))
    # Zero is what the watchdog applies.
    assert np.all(np.array(spec.action_low) <= 0) and np.all(np.array(spec.action_high) >= 0)
    for names in (spec.state_names, spec.observation_names, spec.action_names, spec.context_names):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("n", [1, 3, 5000])
def test_shapes_and_types(plant: Plant, n: int) -> None:
    state, action, context = batch(plant, 0, n)
    following = plant.step(state, action, context, np.random.default_rng(1))
    assert state.shape == following.shape == (n, plant.spec.state_dim)
    assert action.shape == (n, plant.spec.action_dim)
    assert context.shape == (n, plant.spec.context_dim)
    assert plant.observe(following).shape == (n, plant.spec.observation_dim)
    assert all(array.dtype == np.float64 for array in (state, following, context, plant.observe(state)))
    if plant.has_reward:
        assert plant.reward(state, action, context).shape == (n,)


@pytest.mark.parametrize("mode", ["training", "calibration"])
def test_observations_stay_finite_and_within_bounds(plant: Plant, mode: str) -> None:
    rng = np.random.default_rng(2)
    observations = random_rollouts(plant, plant.sample_context(rng, 200), 100, rng, mode).observations
    assert np.isfinite(observations).all()
    assert (observations >= np.array(plant.spec.observation_low) - 1e-12).all()
    assert (observations <= np.array(plant.spec.observation_high) + 1e-12).all()


def test_same_seed_same_run(plant: Plant) -> None:
    def run(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        return random_rollouts(plant, plant.sample_context(rng, 5), 20, rng).observations

    np.testing.assert_array_equal(run(3), run(3))
    assert not np.array_equal(run(3), run(4))


def test_step_is_pure(plant: Plant) -> None:
    state, action, context = batch(plant, 5)
    copies = [each.copy() for each in (state, action, context)]
    first = plant.step(state, action, context, np.random.default_rng(6))
    for array, copy in zip((state, action, context), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(first, plant.step(state, action, context, np.random.default_rng(6)))
    plant.observe(state)[:] = 0.0
    np.testing.assert_array_equal(state, copies[0])


def test_batch_of_one_equals_row_of_many(plant: Plant) -> None:
    state, action, context = batch(plant, 7)
    noise_free = plant_without_noise(plant)
    together = noise_free.step(state, action, context, np.random.default_rng(0))
    for k in range(0, SYSTEMS, 9):
        row = slice(k, k + 1)
        alone = noise_free.step(state[row], action[row], context[row], np.random.default_rng(0))
        np.testing.assert_allclose(alone, together[row], rtol=0, atol=1e-14)
        np.testing.assert_array_equal(noise_free.observe(state[row]), noise_free.observe(state)[row])
        if plant.has_reward:
            rewards = plant.reward(state, action, context)
            np.testing.assert_allclose(
                plant.reward(state[row], action[row], context[row]), rewards[row], atol=1e-12
            )


def test_large_batch_equals_small_ones(plant: Plant) -> None:
    """The base class cuts large batches into blocks; nobody may notice."""
    state, action, context = batch(plant, 8, 10_000)
    whole = plant.step(state, action, context, np.random.default_rng(9))
    rng = np.random.default_rng(9)
    parts = [
        plant.step(state[i : i + 4096], action[i : i + 4096], context[i : i + 4096], rng)
        for i in range(0, 10_000, 4096)
    ]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_context_matters(plant: Plant) -> None:
    """Two systems, same states, actions and noise: some transition tells them apart."""
    state, action, context = batch(plant, 10)
    other = plant.sample_context(np.random.default_rng(11), SYSTEMS)
    first, second = (plant.step(state, action, each, np.random.default_rng(12)) for each in (context, other))
    assert np.abs(first - second).max() > 1e-3


def test_action_matters_and_is_clipped(plant: Plant) -> None:
    state, action, context = batch(plant, 13)
    low, high = np.array(plant.spec.action_low), np.array(plant.spec.action_high)

    def step(u: np.ndarray) -> np.ndarray:
        return plant.step(state, np.broadcast_to(u, action.shape), context, np.random.default_rng(14))

    np.testing.assert_array_equal(step(high), step(high * 10 + 1))
    np.testing.assert_array_equal(step(low), step(low * 10 - 1))
    assert np.abs(step(high) - step(0.3 * high)).max() > 1e-3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", ["state", "action", "context"])
def test_non_finite_input_raises(plant: Plant, which: str, bad: float) -> None:
    arrays = named_batch(plant, 15)
    arrays[which][3, 0] = bad
    with pytest.raises(ValueError, match=f"{which} holds a non-finite number"):
        plant.step(**arrays, rng=np.random.default_rng(0))


@pytest.mark.parametrize("which", ["state", "action", "context"])
def test_wrong_shape_raises(plant: Plant, which: str) -> None:
    arrays = named_batch(plant, 16)
    good = arrays[which]
    for bad in (good[0], good[:, :-1], np.concatenate([good, good], axis=1)):
        with pytest.raises(ValueError, match=f"{which} must have shape"):
            plant.step(**{**arrays, which: bad}, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="batch sizes differ"):
        plant.step(**{**arrays, which: good[:-1]}, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="state must have shape"):
        plant.observe(arrays["state"][0])


def test_unknown_initial_state_mode_raises_with_the_known_ones(plant: Plant) -> None:
    with pytest.raises(ValueError, match="training, calibration"):
        plant.initial_state("upside_down", np.random.default_rng(0))


def test_reward_where_there_is_none_raises(plant: Plant) -> None:
    if plant.has_reward:
        assert (plant.reward(*batch(plant, 17)) <= 0).all()
    else:
        with pytest.raises(ValueError, match="has no reward"):
            plant.reward(*batch(plant, 17))


def plant_without_noise(plant: Plant) -> Plant:
    quiet = f"{plant.spec.name}_noise_free"
    return get_plant(quiet) if quiet in plant_names() else plant
