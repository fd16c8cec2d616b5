"""A robot under ros2_control instead of a plant: joint states in, commands out, and the calibrator cannot
tell the difference."""

from __future__ import annotations

import numpy as np
from action_msgs.msg import GoalStatus
from explore_context_interfaces.msg import ContextBelief
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from tests.helpers.calibration import PATIENCE, Watch, quick_planner
from tests.helpers.ros import Graph

from explore_context.nodes.calibrator_node import CalibratorNode
from explore_context.nodes.joint_bridge_node import JointBridgeNode
from explore_context.plants import get_plant

__all__ = ["quick_planner"]


class Robot:
    """A pendulum behind joint_states and a command topic; its zero hangs down, the model's is upright."""

    def __init__(self, graph: Graph) -> None:
        self.node = graph.node
        self._plant, self._rng = get_plant("pendulum"), np.random.default_rng(0)
        self._state = self._plant.initial_state("calibration", self._rng, 1)
        self._context = np.array([[1.0, 1.2, 0.8, 1.5]])
        self.commands: list[float] = [0.0]
        self._publisher = self.node.create_publisher(JointState, "joint_states", 10)
        self.node.create_subscription(Float64MultiArray, "commands", self._take, 10)
        self.node.create_timer(0.1, self._step)

    def _take(self, message: Float64MultiArray) -> None:
        self.commands.append(message.data[0])

    def _step(self) -> None:
        self._state = self._plant.step(self._state, np.array([[self.commands[-1]]]), self._context, self._rng)
        angle, speed = self._state[0]
        joint = JointState(name=["pendulum_joint"], position=[angle + np.pi], velocity=[speed])
        self._publisher.publish(joint)


def test_a_robot_is_calibrated_through_the_bridge(graph: Graph, quick_planner: str) -> None:
    robot = Robot(graph)
    names = ["cos_angle", "sin_angle", "angular_velocity"]
    options = graph.options(
        observation_names=names, watchdog_time=2.0, offset_joints=["pendulum_joint"], offsets=[-np.pi]
    )
    graph.add(JointBridgeNode(**options))
    graph.add(CalibratorNode(**graph.options(planner=quick_planner, threads=1, model="pendulum")))
    watch = Watch(graph)
    graph.spin_until(lambda: watch.states, PATIENCE, "a state")
    watch.bring_up("calibrator")
    status, result = watch.goal(transitions=6).wait()
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert watch.wait_for_status(ContextBelief.CALIBRATED).number_of_transitions == 6
    assert any(robot.commands)
    number = len(robot.commands)
    graph.spin_until(lambda: len(robot.commands) > number + 2, PATIENCE, "commands after the calibration")
    assert robot.commands[-1] == 0.0
