"""Swings: candidates that push along the motion, under the model."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explore_context.model import ContextModel
from explore_context.planning import ExpectedInformationGain
from explore_context.planning.swings import swings, velocity_columns
from explore_context.plants import get_plant
from explore_context.plants.pendulum import quadrant

MODELS = Path(__file__).parents[2] / "models"


def load(plant: str) -> ContextModel:
    return ContextModel.load(MODELS / plant, plant=get_plant(plant).spec)


@pytest.mark.parametrize("plant", ["pendulum", "mountain_car"])
def test_each_action_is_the_bound_that_accelerates_most_along_the_motion(plant: str) -> None:
    model, rng = load(plant), np.random.default_rng(0)
    (column,) = velocity_columns(model)
    state = np.full((1, model.state_dim), 0.3, np.float32)
    beta = rng.standard_normal((5, model.belief_dim)).astype(np.float32)
    sequences = swings(model, state, beta, 12)
    assert sequences.shape == (5, 12, 1)
    x = np.repeat(state, 5, axis=0)
    low, high = (
        np.full((5, 1), bound[0], np.float32)
        for bound in (model.manifest.action_low, model.manifest.action_high)
    )
    for step in range(12):
        with_low, with_high = (model.predict_one(x, action, beta)[0] for action in (low, high))
        gained = x[:, column] * (with_high[:, column] - with_low[:, column])
        expected = np.where(gained > 0, high[:, 0], low[:, 0])
        np.testing.assert_array_equal(sequences[:, step, 0], expected)
        x = np.where(gained[:, None] > 0, with_high, with_low)


def test_a_swing_under_the_calibrated_belief_goes_over_the_top() -> None:
    """The sequence that comes of the model's imagination drives the real pendulum through all quadrants."""
    plant, model, rng = get_plant("pendulum"), load("pendulum"), np.random.default_rng(1)
    context = np.array([[1.0, -1.2, -0.9, 1.1]])
    state = np.stack([rng.uniform(-np.pi, np.pi, 60), rng.uniform(-6, 6, 60)], axis=1)
    torque = rng.uniform(-2, 2, (60, 1))
    following = plant.step(state, torque, np.repeat(context, 60, axis=0), rng)
    belief = model.belief(plant.observe(state), torque, plant.observe(following))
    hanging = np.array([[np.pi, 0.0]])
    start = plant.observe(hanging).astype(np.float32)
    visited = []
    for action in swings(model, start, belief.mean[None], 30)[0]:
        visited.append(int(quadrant(hanging[:, 0])[0]))
        hanging = plant.step(hanging, action[None].astype(np.float64), context, rng)
    assert set(visited) == {0, 1, 2, 3}


def test_there_are_none_without_velocities() -> None:
    model = load("toy_inner")
    state, beta = np.zeros((1, model.state_dim), np.float32), np.zeros((2, model.belief_dim), np.float32)
    assert swings(model, state, beta, 4).shape == (0, 4, model.action_dim)


def test_there_are_none_with_too_many_bounds_to_try() -> None:
    model = load("pendulum")
    manifest = replace(model.manifest, action_low=(-1.0,) * 5, action_high=(1.0,) * 5)
    wide = copy.copy(model)
    wide.manifest = manifest
    assert len(swings(wide, np.zeros((1, 3), np.float32), np.zeros((2, 16), np.float32), 4)) == 0


def test_the_gain_suggests_swings_under_the_mean_and_every_sample() -> None:
    model = load("pendulum")
    state = np.array([-1.0, 0.0, 0.5], np.float32)
    samples = np.random.default_rng(2).standard_normal((4, model.belief_dim)).astype(np.float32)
    objective = ExpectedInformationGain(model).bind(state, model.prior, samples)
    contexts = np.concatenate([samples.mean(axis=0, keepdims=True), samples])
    np.testing.assert_array_equal(objective.suggestions(6), swings(model, state[None], contexts, 6))
