"""Endless data: a function of seed and step, the paper's sampling, and shares that add up."""

from __future__ import annotations

import numpy as np
import pytest

from explore_context.plants import get_plant
from explore_context_training.data import EndlessData, independent_transitions
from explore_context_training.settings import DataSettings, StageSettings

SETTINGS = DataSettings(pairs=60, blocks=3, refresh_every=4, rollout=30, independent=6)
STAGE = StageSettings(
    steps=10,
    batch=40,
    chunk=(5, 5),
    context=(8, 8),
    p_context_from_target=(0.5, 0.5),
    p_context_independent=(0.3, 0.3),
)


def data(seed: int = 0) -> EndlessData:
    return EndlessData(get_plant("mountain_car"), SETTINGS, seed)


def arrays(batch) -> list[np.ndarray]:
    return [
        batch.states,
        batch.actions,
        batch.context.state,
        batch.context.action,
        batch.context.following,
        batch.split,
        batch.noise,
    ]


def test_same_seed_and_step_give_the_same_batch_whatever_came_before() -> None:
    straight, jumping = data(), data()
    for step in range(30):
        last = straight.batch(step, STAGE, 0.0, 4)
    for one, other in zip(arrays(last), arrays(jumping.batch(29, STAGE, 0.0, 4)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(last.states, data(seed=1).batch(29, STAGE, 0.0, 4).states)
    assert not np.array_equal(last.states, data().batch(28, STAGE, 0.0, 4).states)


def test_old_blocks_are_replaced_and_forgotten() -> None:
    endless = data()
    endless.batch(0, STAGE, 0.0, 4)
    first = set(endless._blocks)
    endless.batch(40, STAGE, 0.0, 4)
    assert len(endless._blocks) == SETTINGS.blocks and not first & set(endless._blocks)


def test_shares_of_two_processes_make_the_whole_batch() -> None:
    whole = data().batch(3, STAGE, 0.0, 4)
    parts = [data().batch(3, STAGE, 0.0, 4, share=(rank, 2)) for rank in range(2)]
    assert sum(len(p.states) for p in parts) == len(whole.states)
    joined = np.concatenate([p.states for p in parts])
    np.testing.assert_array_equal(np.sort(joined, axis=0), np.sort(whole.states, axis=0))
    np.testing.assert_array_equal(np.sort(np.concatenate([p.split for p in parts])), np.sort(whole.split))


def test_chunks_and_context_are_real_transitions_of_the_right_system() -> None:
    """With one system per block, every transition of a batch must be explained by one of the systems."""
    plant = get_plant("toy_inner_noise_free")
    endless = EndlessData(plant, DataSettings(pairs=2, blocks=2, rollout=20, independent=3), seed=5)
    batch = endless.batch(
        0,
        StageSettings(steps=1, batch=30, chunk=(4, 4), context=(6, 6), p_context_independent=(0.4, 0.4)),
        0.0,
        1,
    )

    def alpha(state, action, following):
        """The hidden parameter that explains a transition, nan where the action hides it."""
        squashed = np.maximum(1 - np.abs(action[..., 0]), 0)
        forced = following[..., 0] - 0.8 * state[..., 0] - 0.2 * state[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(squashed > 0.05, forced / squashed, np.nan)

    chunk = np.nanmean(alpha(batch.states[:, :-1], batch.actions, batch.states[:, 1:]), axis=1)
    context = alpha(batch.context.state, batch.context.action, batch.context.following)
    half = len(context)
    for row in range(half):
        for column in range(context.shape[1]):
            owner = row if column < batch.split[row] else row + half
            if np.isfinite(context[row, column]) and np.isfinite(chunk[owner]):
                assert context[row, column] == pytest.approx(chunk[owner], abs=1e-3)


def test_set_sizes_are_uniform() -> None:
    stage = StageSettings(steps=1, batch=4000, chunk=(2, 2), context=(4, 4))
    split = data().batch(0, stage, 0.0, 1).split
    sizes = np.concatenate([split, 4 - split])
    assert np.bincount(sizes, minlength=5) == pytest.approx(np.full(5, 800), abs=120)


def test_window_keeps_context_near_the_chunk() -> None:
    """A plant that counts its steps shows where in the rollout a context transition was taken."""
    stage = StageSettings(
        steps=1,
        batch=400,
        chunk=(3, 3),
        context=(5, 5),
        p_context_from_target=(1.0, 1.0),
        target_window=(2, 2),
    )
    endless = data()
    block = endless._block(0)
    for index in range(SETTINGS.blocks):
        endless._block(index).states[0][...] = np.arange(block.states.shape[2])[None, :, None]
    batch = endless.batch(0, stage, 0.0, 1)
    start = batch.states[:, 0, 0]
    half = len(batch.split)
    columns = np.arange(5)
    owner_start = np.where(columns < batch.split[:, None], start[:half, None], start[half:, None])
    distance = batch.context.state[..., 0] - owner_start
    assert distance.min() >= -2 and distance.max() <= 3 + 2 - 1


def test_independent_transitions_come_from_the_training_distribution() -> None:
    plant = get_plant("pendulum")
    rng = np.random.default_rng(0)
    given = independent_transitions(plant, plant.sample_context(rng, 50), 40, rng)
    assert given.state.shape == (50, 40, 3) and given.action.shape == (50, 40, 1)
    assert (
        np.abs(given.state[..., 2]).max() > 7
        and np.abs(np.linalg.norm(given.state[..., :2], axis=-1) - 1).max() < 1e-6
    )


def test_normalisation_makes_unit_size() -> None:
    endless = data()
    norm = endless.normalisation()
    states = endless._block(0).states.reshape(-1, 2)
    scaled = (states - np.array(norm.state_mean)) / np.array(norm.state_scale)
    assert scaled.mean(0) == pytest.approx([0, 0], abs=1e-4) and scaled.std(0) == pytest.approx(
        [1, 1], abs=1e-4
    )
    assert norm.state_low[0] == -1.0 and norm.state_high[0] == 1.0
    assert norm.state_high[1] > states[:, 1].max()
