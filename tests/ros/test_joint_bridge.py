"""A robot that speaks JointState and Float64MultiArray becomes a plant."""

from __future__ import annotations

import math

import numpy as np
import pytest
from explore_context_interfaces.msg import PlantAction, PlantInfo, PlantState
from explore_context_interfaces.srv import Reset
from rclpy.clock import ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from tests.helpers.ros import Graph

from explore_context.nodes import qos
from explore_context.nodes.joint_bridge_node import JointBridgeNode
from explore_context.nodes.parameters import ParameterError
from explore_context.plants.pendulum import simulation_step

PERIOD = 0.04


class SmallRobot(Node):
    """A pendulum under a forward effort controller: its zero hangs down, it reports at 100 Hz."""

    def __init__(self, **options) -> None:
        super().__init__("robot", **options)
        self.angle, self.speed = np.array([math.pi]), np.zeros(1)  # angle 0 is upright inside
        self.command = 0.0
        self.silent = False
        self.joints = self.create_publisher(JointState, "joint_states", 10)
        self.create_subscription(Float64MultiArray, "commands", self._on_command, 10)
        self.create_timer(0.01, self._on_timer)

    def _on_command(self, message: Float64MultiArray) -> None:
        self.command = message.data[0]

    def _on_timer(self) -> None:
        self.angle, self.speed = simulation_step(self.angle, self.speed, np.array([self.command]))
        message = JointState(name=["gripper", "hinge"])
        message.position = [0.0, float(self.angle[0]) - math.pi]
        message.velocity = [0.0, float(self.speed[0])]
        if not self.silent:
            self.joints.publish(message)


class Bridge:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.states: list[PlantState] = graph.collect(PlantState, "state", qos.STATE)
        self.infos: list[PlantInfo] = graph.collect(PlantInfo, "plant_info", qos.LATCHED)
        self.robot = graph.add(SmallRobot(**graph.options()))
        options = graph.options(
            observation=["hinge:cos", "hinge:sin", "hinge:velocity"],
            observation_names=["cos_angle", "sin_angle", "angular_velocity"],
            offset_joints=["hinge"],
            offsets=[math.pi],
            period=PERIOD,
            watchdog_time=5 * PERIOD,
        )
        self.node = graph.add(JointBridgeNode(**options))
        self.actions = graph.publisher(PlantAction, "action", qos.ACTION)
        graph.spin_until(lambda: self.states and self.infos, what="state and plant_info")

    @property
    def state(self) -> PlantState:
        return self.states[-1]

    def send(self, command: float, ahead: int = 3) -> None:
        now = self.state
        message = PlantAction(session_id=now.session_id, rollout=now.rollout, step=now.step + ahead)
        message.command, message.sender = [command], "tester"
        self.actions.publish(message)


@pytest.fixture
def bridge(graph: Graph) -> Bridge:
    return Bridge(graph)


def test_speaks_as_a_realtime_plant(bridge: Bridge) -> None:
    info = bridge.infos[-1]
    assert (info.plant, info.mode, info.period) == ("pendulum", "realtime", PERIOD)
    assert list(info.observation_names) == ["cos_angle", "sin_angle", "angular_velocity"]
    bridge.graph.spin_until(lambda: bridge.state.step >= 5, what="five steps")
    cos, sin, _ = bridge.state.observation
    assert cos == pytest.approx(-1.0, abs=1e-6) and sin == pytest.approx(0.0, abs=1e-6)


def test_action_reaches_the_motor_and_is_reported_as_applied(bridge: Bridge) -> None:
    bridge.send(5.0)
    bridge.graph.spin_until(lambda: bridge.robot.command == 2.0, what="the clipped command at the robot")
    bridge.graph.spin_until(lambda: list(bridge.state.applied_action) == [2.0], what="it in the state")
    assert bridge.infos[-1].commander == "tester"
    assert abs(bridge.state.observation[2]) > 0.0


def test_silent_commander_leaves_the_robot_without_command(bridge: Bridge) -> None:
    bridge.send(1.0)
    bridge.graph.spin_until(lambda: bridge.robot.command == 1.0, what="the command at the robot")
    bridge.graph.spin_until(lambda: bridge.robot.command == 0.0, 2.0, what="zero at the robot")
    bridge.graph.spin_until(lambda: bridge.infos[-1].commander == "", what="the release")


def test_two_silent_periods_are_a_gap_and_not_two_equal_states(bridge: Bridge) -> None:
    bridge.send(1.0)
    bridge.graph.spin_until(lambda: bridge.robot.command == 1.0, what="the command at the robot")
    session = bridge.node._session
    bridge.robot.silent = True
    step, rollout = session.step, session.rollout
    bridge.graph.spin_until(lambda: session.step >= step + 3, 2.0, what="steps in silence")
    bridge.robot.silent = False
    bridge.graph.spin_until(lambda: bridge.state.step > step + 3, 2.0, what="a state after the silence")
    steps = [state.step for state in bridge.states if state.rollout == rollout]
    assert step + 3 not in steps and steps == sorted(set(steps)) and steps[-1] > step + 3
    assert session.rollout == rollout and session.steps_unseen > 0


def test_silent_robot_gets_zero_and_begins_a_new_rollout(bridge: Bridge) -> None:
    bridge.send(1.0)
    bridge.graph.spin_until(lambda: bridge.robot.command == 1.0, what="the command at the robot")
    bridge.robot.silent = True
    bridge.graph.spin_until(lambda: bridge.node._session.step < 0, 2.0, what="the end of the rollout")
    bridge.graph.spin_until(lambda: bridge.robot.command == 0.0, 2.0, what="zero at the robot")
    bridge.robot.silent = False
    bridge.graph.spin_until(lambda: bridge.state.rollout >= 1, what="a new rollout")
    first = next(state for state in bridge.states if state.rollout == 1)
    assert first.step == 0 and list(first.applied_action) == []


def test_reset_counts_a_rollout_and_refuses_an_explicit_state(bridge: Bridge) -> None:
    session = bridge.state.session_id
    refused = bridge.graph.call(Reset, "plant/reset", Reset.Request(state=[0.0, 0.0]))
    assert not refused.success and "robot" in refused.message
    assert bridge.graph.call(Reset, "plant/reset", Reset.Request()).session_id == session
    bridge.graph.spin_until(lambda: bridge.state.rollout == 1, what="the new rollout")
    answer = bridge.graph.call(Reset, "plant/reset", Reset.Request(new_system=True))
    assert answer.success and answer.session_id != session


def test_ending_bridge_leaves_a_zero_command(bridge: Bridge) -> None:
    bridge.send(1.0)
    bridge.graph.spin_until(lambda: bridge.robot.command == 1.0, what="the command at the robot")
    bridge.node._timer.cancel()
    bridge.node.stop()
    bridge.graph.spin_until(lambda: bridge.robot.command == 0.0, 2.0, what="zero at the robot")


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"observation": ["hinge:colour"]}, "joint:quantity"),
        ({"offsets": [1.0]}, "same length"),
        ({"action_low": [1.0]}, "zero, the safe command"),
        ({"watchdog_time": 0.1, "period": 0.1}, "two periods"),
        ({"observation_names": ["one"]}, "every entry"),
    ],
)
def test_bad_parameters_are_refused(graph: Graph, parameters, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        JointBridgeNode(**graph.options(**parameters))


@pytest.mark.parametrize(("simulated", "kind"), [(False, ClockType.STEADY_TIME), (True, ClockType.ROS_TIME)])
def test_nobody_can_set_the_clock_that_the_command_depends_on(
    graph: Graph, simulated: bool, kind: ClockType
) -> None:
    """A system clock that is set back would leave the robot with its last command for as long."""
    options = graph.options(observation=["hinge:position"], use_sim_time=simulated)
    bridge = graph.add(JointBridgeNode(**options))
    assert bridge._timer.clock.clock_type == kind
    assert bridge._clock.clock_type == kind
