"""A robot under ros2_control instead of a plant: joint states in, commands out, and the calibrator cannot
tell the difference."""

from __future__ import annotations

from action_msgs.msg import GoalStatus
from explore_context_interfaces.msg import ContextBelief
from tests.helpers.calibration import PATIENCE, Watch, quick_planner
from tests.helpers.robot import PARAMETERS, Robot
from tests.helpers.ros import Graph

from explore_context.nodes.calibrator_node import CalibratorNode
from explore_context.nodes.joint_bridge_node import JointBridgeNode

__all__ = ["quick_planner"]


def test_a_robot_is_calibrated_through_the_bridge(graph: Graph, quick_planner: str) -> None:
    robot = Robot(graph)
    graph.add(JointBridgeNode(**graph.options(**PARAMETERS)))
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
