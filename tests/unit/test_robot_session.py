"""Steps of a real robot, whose sensors may fall silent for a while or for good."""

from __future__ import annotations

import numpy as np

from explore_context.nodes.robot_session import RobotSession
from explore_context.nodes.samples import ActionCommand

PERIOD, WATCHDOG = 0.1, 0.5


def session() -> RobotSession:
    return RobotSession(np.array([-2.0]), np.array([2.0]), PERIOD, WATCHDOG, lambda: "robot")


def test_a_step_without_anything_new_is_commanded_but_shows_no_state() -> None:
    made = session()
    shown = []
    for step in range(6):
        now = step * PERIOD
        if step not in (2, 3):
            made.observe(np.array([float(step)]), now)
        sample = made.tick(now)
        shown.append(None if sample is None else (sample.step, sample.observation[0]))
        action = ActionCommand("robot", 0, made.step + 1, np.array([0.1 * step]), "tester")
        made.offer(action, now)
        assert made.step == step and made.command == [0.0 if step == 0 else 0.1 * (step - 1)]
    assert shown == [(0, 0.0), (1, 1.0), None, None, (4, 4.0), (5, 5.0)]
    assert made.rollout == 0 and made.steps_unseen == 2


def test_a_rollout_ends_with_the_watchdog_time_and_begins_with_something_new() -> None:
    made = session()
    made.observe(np.array([1.0]), 0.0)
    assert made.tick(0.0) is not None
    while made.rollout == 0:
        assert made.tick((made.step + 1) * PERIOD) is None
    assert made.step == -1 and made.tick(1.0) is None
    made.observe(np.array([2.0]), 1.05)
    sample = made.tick(1.1)
    assert sample is not None and (sample.rollout, sample.step, sample.applied_action.size) == (1, 0, 0)


def test_an_old_observation_does_not_begin_a_rollout_after_a_reset() -> None:
    made = session()
    made.observe(np.array([1.0]), 0.0)
    made.tick(0.0)
    made.reset(new_system=False)
    assert made.tick(PERIOD) is None and made.step == -1
