"""The calibrator among others that change its parameters, bear its name, want its plant or lose its reset."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from explore_context_interfaces.msg import ContextBelief
from explore_context_interfaces.srv import Reset
from tests.helpers.calibration import CONFIGURE, Scene, quick_planner
from tests.helpers.ros import Graph

from explore_context.nodes import qos
from explore_context.nodes.calibrator_node import CalibratorNode
from explore_context.nodes.namesakes import namesakes
from explore_context.nodes.planning_thread import InterruptiblePlanner
from explore_context.planning import Calibration
from explore_context.planning.plan import Plan

__all__ = ["quick_planner"]


def test_samples_change_from_the_next_plan_on(
    graph: Graph, quick_planner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    draw = InterruptiblePlanner.draw

    def noting(planner: InterruptiblePlanner, rng: np.random.Generator, n: int, dimensions: int) -> Any:
        drawn.append(n)
        return draw(planner, rng, n, dimensions)

    monkeypatch.setattr(InterruptiblePlanner, "draw", noting)
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    goal = scene.goal(transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 3, what="feedback")
    assert set(drawn) == {2}  # the planner's own number
    assert scene.set_parameter("calibrator", "samples", 3) == ""
    number = len(goal.feedback)
    graph.spin_until(lambda: len(goal.feedback) > number + 3, what="more feedback")
    assert drawn[-1] == 3
    goal.cancel()


def test_a_planner_that_does_not_exist_is_refused_while_the_node_works(
    graph: Graph, quick_planner: str
) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    assert "unknown planner 'nonsense'" in scene.set_parameter("calibrator", "planner", "nonsense")
    assert scene.set_parameter("calibrator", "planner", "realtime") == ""
    assert scene.set_parameter("calibrator", "planner", quick_planner) == ""
    assert scene.goal(transitions=2).wait()[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_namesake_stays_unconfigured(graph: Graph) -> None:
    scene = Scene(graph)
    scene.calibrator()
    second = graph.add(CalibratorNode(**graph.options(threads=1)))
    graph.spin_until(lambda: namesakes(second, "/calibrator") == 2, what="two calibrators on the graph")
    second.trigger_configure()
    assert "another node named /calibrator" in second.problem and second.model is None


@pytest.mark.parametrize("slow_rollout", [0, 1])
@pytest.mark.parametrize("mode", ["lockstep", "realtime"])
def test_a_rival_is_refused_while_the_first_plan_of_a_rollout_is_made(
    graph: Graph, quick_planner: str, monkeypatch: pytest.MonkeyPatch, mode: str, slow_rollout: int
) -> None:
    """However long it takes: claims keep the command beyond the watchdog time."""
    go_on, plan = threading.Event(), Calibration.next_action

    def slow(calibration: Calibration, *arguments: Any) -> Plan:
        if calibration.rollout == slow_rollout:
            go_on.wait(60.0)
        return plan(calibration, *arguments)

    monkeypatch.setattr(Calibration, "next_action", slow)
    scene = Scene(graph, mode=mode, watchdog_time=0.5)
    scene.calibrator(planner=quick_planner)
    options = graph.options(threads=1, planner=quick_planner)
    graph.add(CalibratorNode(**options, cli_args=["--ros-args", "-r", "__node:=rival"]))
    scene.bring_up("rival")
    goal = scene.goal(transitions=2, rollouts=2)
    try:
        graph.spin_until(lambda: scene.states[-1].rollout == slow_rollout + 1, what="the reset")
        graph.spin_until(lambda: scene.infos[-1].commander == "/calibrator", what="the command taken")
        begun = time.monotonic()
        graph.spin_until(lambda: time.monotonic() > begun + 1.0, what="twice the watchdog time")
        status, result = scene.goal("rival", transitions=2).wait()
    finally:
        go_on.set()
    assert status == GoalStatus.STATUS_ABORTED and result.message == "plant is commanded by /calibrator"
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_SUCCEEDED and result.transitions == 4
    assert max(state.rollout for state in scene.states) == 2
    graph.spin_until(lambda: scene.infos[-1].commander == "", what="the command given up")


def test_a_rival_that_is_configured_does_not_hide_the_belief_in_force(
    graph: Graph, quick_planner: str
) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    goal = scene.goal(transitions=100000)
    graph.spin_until(lambda: scene.infos[-1].commander == "/calibrator", what="the command taken")
    options = graph.options(threads=1, planner=quick_planner)
    rival = graph.add(CalibratorNode(**options, cli_args=["--ros-args", "-r", "__node:=rival"]))
    seen = "context_belief"
    graph.spin_until(lambda: len(rival.get_publishers_info_by_topic(seen)) == 2, what="both publishers")
    del scene.beliefs[:]
    scene.bring_up("rival")
    assert rival._message is None  # what it published may still be under way
    late = graph.collect(ContextBelief, seen, qos.LATCHED)
    graph.spin_until(lambda: len(scene.beliefs) >= 3 and late, what="beliefs")
    statuses = {belief.status for belief in (*scene.beliefs, *late)}
    assert statuses == {ContextBelief.CALIBRATING}
    goal.cancel()


def test_a_calibration_begins_where_the_plant_begins(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph, initial_state_mode="training", seed=3)
    scene.calibrator(planner=quick_planner)
    assert scene.goal(transitions=2).wait()[0] == GoalStatus.STATUS_SUCCEEDED
    first = next(state for state in scene.states if state.rollout == 1)
    assert abs(first.observation[2]) > 0.1  # hanging down it would be at most 0.05


def test_a_reset_that_gets_lost_aborts_the_goal(graph: Graph, quick_planner: str) -> None:
    def forget(request: Reset.Request, response: Reset.Response) -> Reset.Response:
        response.success = True
        return response

    graph.node.create_service(Reset, "forgetful/reset", forget)
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner, reset_service="forgetful/reset", state_timeout=0.5)
    status, result = scene.goal(transitions=2).wait()
    assert status == GoalStatus.STATUS_ABORTED and "not answered a reset" in result.message


def test_a_service_name_that_is_none_is_refused_with_a_reason(graph: Graph) -> None:
    scene = Scene(graph)
    node = graph.add(CalibratorNode(**graph.options(model="pendulum", reset_service="plant reset")))
    assert not scene.change("calibrator", CONFIGURE)
    assert node.problem.startswith("not configured:") and "plant reset" in node.problem
    assert not scene.beliefs
