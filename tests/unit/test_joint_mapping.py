"""Between states, joints and observations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explore_context.nodes.joint_mapping import ObservationMapping, layout_of
from explore_context.nodes.robot_session import RobotSession
from explore_context.nodes.samples import ActionCommand, RejectedMessage, Rejection
from explore_context.plants import get_plant, plant_names

PENDULUM = ("hinge:cos", "hinge:sin", "hinge:velocity")
NONE = np.empty(0)


@pytest.mark.parametrize("name", plant_names())
def test_every_plant_has_a_joint_layout(name: str) -> None:
    spec = get_plant(name).spec
    layout = layout_of(spec)
    assert len(layout.names) == len(layout.position)
    assert all(index < spec.state_dim for index in (*layout.position, *layout.velocity))
    assert all(index < spec.action_dim for index in layout.effort)


def test_observation_of_a_pendulum_whose_zero_hangs_down() -> None:
    mapping = ObservationMapping.parse(PENDULUM, {"hinge": math.pi})
    observation = mapping.observe(["wheel", "hinge"], np.array([9.0, 0.3]), np.array([9.0, -2.0]), NONE)
    np.testing.assert_allclose(observation, [math.cos(math.pi + 0.3), math.sin(math.pi + 0.3), -2.0])
    assert mapping.names == ("hinge_cos", "hinge_sin", "hinge_velocity")


@pytest.mark.parametrize(
    ("names", "position", "velocity", "reason"),
    [
        (["wheel"], [0.0], [0.0], Rejection.WRONG_SIZE),
        (["hinge"], [0.0], [], Rejection.NON_FINITE),  # velocity needed, not measured
        (["hinge"], [math.nan], [0.0], Rejection.NON_FINITE),
        (["hinge", "wheel"], [0.0], [0.0], Rejection.WRONG_SIZE),
    ],
)
def test_bad_joint_states_are_rejected(names, position, velocity, reason) -> None:
    mapping = ObservationMapping.parse(PENDULUM, {})
    with pytest.raises(RejectedMessage) as error:
        mapping.observe(names, np.array(position), np.array(velocity), NONE)
    assert error.value.reason == reason


@pytest.mark.parametrize("entries", [["hinge"], ["hinge:colour"], [":cos"], []])
def test_bad_mapping_is_refused(entries: list[str]) -> None:
    with pytest.raises(ValueError, match="observation"):
        ObservationMapping.parse(entries, {})


def robot() -> RobotSession:
    numbers = iter(range(99))
    return RobotSession(np.array([-2.0]), np.array([2.0]), 0.1, 0.5, lambda: f"s{next(numbers)}")


def test_robot_steps_only_with_fresh_sensors() -> None:
    made = robot()
    assert made.tick(0.0) is None
    made.observe(np.array([1.0]), 0.05)
    first = made.tick(0.1)
    made.observe(np.array([1.5]), 0.15)
    second = made.tick(0.2)
    assert first is not None and second is not None
    assert (first.step, first.applied_action.size) == (0, 0)
    assert (second.step, second.applied_action.tolist()) == (1, [0.0])
    made.offer(ActionCommand("s0", 0, 2, np.array([1.5]), "a"), 0.25)
    made.observe(np.array([2.0]), 0.25)
    assert made.tick(0.3).step == 2 and made.command == [1.5]  # type: ignore[union-attr]
    made.observe(np.array([2.5]), 0.35)
    assert made.tick(0.4).applied_action == [1.5]  # type: ignore[union-attr]


def test_silent_sensors_end_the_rollout_with_a_zero_command() -> None:
    made = robot()
    made.observe(np.array([1.0]), 0.0)
    made.tick(0.0)
    made.offer(ActionCommand("s0", 0, 1, np.array([1.5]), "a"), 0.05)
    made.tick(0.1)
    assert made.command == [1.5]
    assert made.tick(0.6) is None and made.command == [0.0]
    made.observe(np.array([1.0]), 0.7)
    sample = made.tick(0.7)
    assert sample is not None and (sample.session_id, sample.rollout, sample.step) == ("s0", 1, 0)
    made.reset(new_system=True)
    assert made.session_id == "s1"
