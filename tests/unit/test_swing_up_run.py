"""What a transition of a swing-up is worth."""

from __future__ import annotations

import numpy as np
import pytest

from explore_context.nodes.swing_up_run import reward
from explore_context.nodes.transition_filter import Transition
from explore_context.plants import get_plant

PENDULUM, PLAIN = get_plant("pendulum"), np.ones((1, 4))


def transition(state: np.ndarray, torque: np.ndarray, given: float) -> Transition:
    """Of a pendulum without factors; the plant says ``given``."""
    following = PENDULUM.step(state, torque, PLAIN, np.random.default_rng(0))
    before, after = PENDULUM.observe(np.concatenate([state, following]))
    return Transition(0, 0, before, torque[0], after, given)


def test_the_plants_own_reward_counts() -> None:
    assert reward(transition(np.array([[2.0, 1.0]]), np.array([[0.5]]), -7.0)) == -7.0


def test_a_robot_gives_none_and_gets_nearly_the_pendulums() -> None:
    rng = np.random.default_rng(0)
    states, torques = rng.uniform([-2.5, -4.0], [2.5, 4.0], (50, 2)), rng.uniform(-2.0, 2.0, (50, 1))
    expected = PENDULUM.reward(states, torques, np.ones((50, 4)))
    estimated = [reward(transition(x[None], u[None], 0.0)) for x, u in zip(states, torques, strict=True)]
    np.testing.assert_allclose(estimated, expected, atol=0.25)
    assert sum(estimated) == pytest.approx(expected.sum(), rel=0.02)
