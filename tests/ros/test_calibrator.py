"""The calibrator on an in-process graph: lifecycle, goals, cancel, preemption, what it refuses."""

from __future__ import annotations

import gc
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from explore_context_interfaces.msg import ContextBelief, PlantAction, PlantState
from tests.helpers.calibration import (
    ACTIVATE,
    CLEANUP,
    CONFIGURE,
    DEACTIVATE,
    Scene,
    Watch,
    quick_planner,
    transitions_of,
)
from tests.helpers.ros import Graph
from tests.helpers.waiting import wait_until

from explore_context.model import ContextModel
from explore_context.nodes import qos
from explore_context.nodes.calibrator_node import CalibratorNode
from explore_context.nodes.commander_parameters import model_folder

__all__ = ["quick_planner"]


def test_prior_is_published_from_configuring_on_and_reaches_late_joiners(graph: Graph) -> None:
    scene = Scene(graph)
    scene.calibrator(active=False)
    assert scene.change("calibrator", CONFIGURE)
    belief = scene.wait_for_status(ContextBelief.PRIOR)
    assert belief.session_id == scene.infos[-1].session_id
    assert belief.number_of_transitions == 0 and belief.information_gained == 0.0
    late = graph.collect(ContextBelief, "context_belief", qos.LATCHED)
    graph.spin_until(lambda: late, 1.0, "the latched belief")
    assert late[0] == belief


def test_calibration_uses_exactly_the_transitions_of_the_plant(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph, seed=3)
    scene.calibrator(planner=quick_planner)
    goal = scene.goal(transitions=4, rollouts=2)
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success and result.message == ""
    assert (result.transitions, result.rollouts, result.missed_deadlines) == (8, 2, 0)
    assert result.rejected_messages == 0 and 0 < result.planning_time_median <= result.planning_time_max
    assert [(f.rollout, f.step) for f in goal.feedback] == [(r, s) for r in (0, 1) for s in range(4)]
    assert all(len(f.planned_actions) > 0 for f in goal.feedback)
    belief = scene.wait_for_status(ContextBelief.CALIBRATED)
    model = ContextModel.load(model_folder("pendulum"))
    expected = model.belief(*transitions_of(scene.states, {1, 2}))
    assert expected.transitions == belief.number_of_transitions == 8
    np.testing.assert_allclose(belief.mean, expected.mean, atol=1e-4)
    np.testing.assert_allclose(belief.embedding, expected.embedding, atol=1e-5)
    assert belief.entropy == pytest.approx(expected.entropy, abs=1e-3)
    assert belief.information_gained == pytest.approx(model.prior.entropy - expected.entropy, abs=1e-3)
    numbers = [b.number_of_transitions for b in scene.beliefs if b.status == ContextBelief.CALIBRATING]
    assert numbers[0] == 0 and numbers == sorted(set(numbers)) and len(numbers) > 4
    graph.spin_until(lambda: scene.infos[-1].commander == "", what="the command given up")
    assert scene.values("calibrator")["calibrations.succeeded"] == "1"


@pytest.mark.parametrize("scheme", ["random", "open_loop"])
def test_the_other_schemes(graph: Graph, quick_planner: str, scheme: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner, scheme=scheme)
    status, result = scene.goal(transitions=3).wait()
    assert status == GoalStatus.STATUS_SUCCEEDED and result.transitions == 3


def test_the_same_seed_gives_the_same_run(quick_planner: str) -> None:
    embeddings = []
    for _ in range(2):
        graph = Graph()
        try:
            scene = Scene(graph, seed=5)
            scene.calibrator(planner=quick_planner, seed=7)
            embeddings.append(scene.goal(transitions=5).wait()[1].belief.embedding)
        finally:
            graph.close()
    np.testing.assert_array_equal(*embeddings)


def test_realtime_calibration(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph, mode="realtime")
    scene.calibrator(planner=quick_planner)
    status, result = scene.goal(transitions=6).wait()
    assert status == GoalStatus.STATUS_SUCCEEDED and result.transitions == 6
    # The last command is a zero for the step that follows, then the command is given up.
    graph.spin_until(lambda: scene.actions[-1].kind == PlantAction.RELEASE, what="the command given up")
    assert list(scene.actions[-2].command) == [0.0]


def test_cancelling_while_it_plans_stops_at_once_and_keeps_the_belief(graph: Graph) -> None:
    scene = Scene(graph)
    scene.calibrator()
    goal = scene.goal(planner="paper", scheme="open_loop", transitions=500)
    graph.spin_until(lambda: scene.infos[-1].session_id and scene.states[-1].rollout == 1, what="the reset")
    goal.cancel()
    status, result = goal.wait(5.0)
    assert status == GoalStatus.STATUS_CANCELED and not result.success and "cancelled" in result.message
    assert scene.wait_for_status(ContextBelief.CANCELLED).number_of_transitions == 0


def test_cancelling_in_the_middle_ends_with_a_zero_action(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    goal = scene.goal(transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 3, what="feedback")
    goal.cancel()
    status, result = goal.wait(5.0)
    assert status == GoalStatus.STATUS_CANCELED and result.belief.number_of_transitions >= 3
    belief = scene.wait_for_status(ContextBelief.CANCELLED)
    assert belief.number_of_transitions == result.belief.number_of_transitions == result.transitions
    graph.spin_until(
        lambda: scene.actions and scene.actions[-1].kind == PlantAction.RELEASE, what="a release"
    )
    assert list(scene.actions[-2].command) == [0.0]
    graph.spin_until(lambda: scene.infos[-1].commander == "", what="the command given up")


def test_a_new_goal_takes_the_place_of_the_old_one(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    old = scene.goal(transitions=1000)
    graph.spin_until(lambda: len(old.feedback) > 2, what="feedback")
    new = scene.goal(transitions=3)
    status, result = old.wait()
    assert status == GoalStatus.STATUS_ABORTED and "preempted" in result.message and result.transitions > 0
    status, result = new.wait()
    assert status == GoalStatus.STATUS_SUCCEEDED and result.belief.number_of_transitions == 3


def test_goals_that_cannot_be_pursued_are_aborted_with_a_reason(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(active=False, planner=quick_planner)
    assert "not active" in scene.goal().wait()[1].message
    scene.bring_up("calibrator")
    for reason, fields in {
        "scheme 'clever'": {"scheme": "clever"},
        "unknown planner": {"planner": "x"},
    }.items():
        status, result = scene.goal(**fields).wait()
        assert status == GoalStatus.STATUS_ABORTED and reason in result.message


def test_a_second_commander_is_refused_by_name(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    other = graph.publisher(PlantAction, "action", qos.ACTION)
    state = scene.states[-1]
    other.publish(
        PlantAction(session_id=state.session_id, rollout=state.rollout, command=[0.5], sender="/joystick")
    )
    graph.spin_until(lambda: scene.infos[-1].commander == "/joystick", what="the joystick in command")
    status, result = scene.goal().wait()
    assert status == GoalStatus.STATUS_ABORTED and result.message == "plant is commanded by /joystick"


def test_another_system_aborts_the_goal_and_makes_the_belief_stale(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    goal = scene.goal(transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 3, what="feedback")
    old = scene.infos[-1].session_id
    scene.reset(new_system=True)
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_ABORTED and "session changed" in result.message
    belief = scene.wait_for_status(ContextBelief.STALE)
    assert belief.session_id == old and belief.number_of_transitions == result.transitions
    status, result = scene.goal(transitions=3).wait()
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result.belief.session_id == scene.infos[-1].session_id != old
    assert result.belief.number_of_transitions == 3


def test_bad_states_are_counted_by_reason_and_change_nothing(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    node = scene.calibrator(planner=quick_planner)
    liar = graph.publisher(PlantState, "state", qos.STATE, subscribers=2)
    goal = scene.goal(transitions=8)
    graph.spin_until(lambda: len(goal.feedback) > 3, what="feedback")
    true = scene.states[-1]
    facts = {"session_id": true.session_id, "rollout": true.rollout, "step": true.step + 1}
    liar.publish(PlantState(**facts, observation=[float("nan"), 0.0, 0.0], applied_action=[0.0]))
    liar.publish(PlantState(**facts, observation=[float("inf"), 0.0, 0.0], applied_action=[0.0]))
    liar.publish(PlantState(**facts, observation=[0.0, 0.0], applied_action=[0.0]))
    liar.publish(PlantState(**facts, observation=[0.0, 1.0, 0.0], applied_action=[]))
    liar.publish(PlantState(**{**facts, "step": 0}, observation=[0.0, 1.0, 0.0]))
    liar.publish(
        PlantState(**{**facts, "session_id": "x"}, observation=[0.0, 1.0, 0.0], applied_action=[0.0])
    )
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_SUCCEEDED
    graph.spin_until(lambda: node.link.rejections.total >= 6, what="six rejections")
    values = scene.values("calibrator")
    assert values["rejected.non_finite"] == "2" and values["rejected.wrong_size"] == "2"
    assert values["rejected.out_of_order"] == "1" and values["rejected.foreign_session"] == "1"
    honest = [s for s in scene.states if len(s.observation) == 3 and np.isfinite(s.observation).all()]
    honest = [s for s in honest if s.session_id != "x" and not (s.step == 0 and s.observation[1] == 1.0)]
    assert node.model is not None
    expected = node.model.belief(*transitions_of(honest, {1}))
    np.testing.assert_allclose(result.belief.embedding, expected.embedding, atol=1e-5)


def test_a_silent_plant_aborts_the_goal(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner, state_timeout=0.5)
    goal = scene.goal(transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 3, what="feedback")
    graph.remove(scene.plant)
    status, result = goal.wait(10.0)
    assert status == GoalStatus.STATUS_ABORTED and "no state from the plant" in result.message
    assert scene.wait_for_status(ContextBelief.ABORTED).number_of_transitions == result.transitions


def test_without_a_reset_service_the_remedy_is_named(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner, reset_service="nowhere/reset")
    assert "reset_plant" in scene.goal(transitions=2).wait()[1].message
    assert scene.set_parameter("calibrator", "reset_plant", False) == ""
    assert scene.goal(transitions=2).wait()[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_model_of_another_plant_stays_unconfigured(graph: Graph) -> None:
    scene = Scene(graph, "mountain_car")
    scene.calibrator(active=False, model="pendulum")
    assert not scene.change("calibrator", CONFIGURE)
    message = scene.values("calibrator")["message"]
    assert "not configured" in message and "'pendulum'" in message and "'mountain_car'" in message


@pytest.mark.parametrize("damage", ["truncated", "missing", "swapped"])
def test_a_damaged_model_stays_unconfigured(graph: Graph, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder("pendulum"), folder)
    victim = folder / "gain.onnx"
    if damage == "truncated":
        victim.write_bytes(victim.read_bytes()[:1000])
    elif damage == "missing":
        victim.unlink()
    else:
        shutil.copy(folder / "step.onnx", victim)
    scene = Scene(graph)
    scene.calibrator(active=False, model=str(folder))
    assert not scene.change("calibrator", CONFIGURE)
    assert "gain.onnx" in scene.values("calibrator")["message"]
    assert not scene.beliefs


def test_a_missing_recording_stays_unconfigured(graph: Graph, tmp_path: Path) -> None:
    scene = Scene(graph)
    scene.calibrator(active=False, prior_bag=str(tmp_path / "nothing.mcap"))
    assert not scene.change("calibrator", CONFIGURE)
    assert "nothing.mcap" in scene.values("calibrator")["message"]


def test_activation_needs_a_plant(graph: Graph) -> None:
    node = graph.add(CalibratorNode(**graph.options(model="pendulum", plant_timeout=0.1, threads=1)))
    scene = Watch(graph)
    assert scene.change("calibrator", CONFIGURE)
    assert not scene.change("calibrator", ACTIVATE)
    assert "no plant" in node.problem


def test_parameters_that_may_change_and_those_that_may_not(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    node = scene.calibrator(planner=quick_planner)
    goal = scene.goal(transitions=40)

    assert scene.set_parameter("calibrator", "state_timeout", 4.0) == ""
    assert "cannot change while" in scene.set_parameter("calibrator", "model", "mountain_car")
    assert "cannot change while" in scene.set_parameter("calibrator", "threads", 2)
    assert "out of range" in scene.set_parameter("calibrator", "samples", -1)
    assert goal.wait()[0] == GoalStatus.STATUS_SUCCEEDED
    assert node.settings.state_timeout == 4.0 and node.settings.model == ""
    assert scene.change("calibrator", DEACTIVATE) and scene.change("calibrator", CLEANUP)
    assert scene.set_parameter("calibrator", "threads", 2) == ""
    scene.bring_up("calibrator")


def test_horizon_bounds_how_far_mpc_plans_ahead(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner, horizon=3)
    goal = scene.goal(transitions=5)
    assert goal.wait()[0] == GoalStatus.STATUS_SUCCEEDED
    assert [len(f.planned_actions) for f in goal.feedback] == [3, 3, 3, 2, 1]


def test_deactivating_aborts_the_goal_with_a_zero_action(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner)
    goal = scene.goal(transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 3, what="feedback")
    assert scene.change("calibrator", DEACTIVATE)
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_ABORTED and result.message == "deactivated"
    graph.spin_until(lambda: scene.actions[-1].kind == PlantAction.RELEASE, what="a release")
    assert list(scene.actions[-2].command) == [0.0]
    assert scene.change("calibrator", ACTIVATE)
    assert scene.goal(transitions=2).wait()[0] == GoalStatus.STATUS_SUCCEEDED


def test_autostart_begins_a_calibration_with_activation(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(planner=quick_planner, autostart_calibration=True, transitions=3)
    assert scene.wait_for_status(ContextBelief.CALIBRATED).number_of_transitions == 3


def test_diagnostics_tell_model_provider_rates_and_latency(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    node = scene.calibrator(planner=quick_planner)
    scene.goal(transitions=3).wait()
    values = scene.values("calibrator")
    assert (
        node.model is not None
        and values["model_hash"] == node.model.model_hash
        and "ExecutionProvider" in values["provider"]
    )
    wanted = {
        "states_per_second",
        "actions_per_second",
        "planning_time",
        "missed_deadlines",
        "rejected",
        "entropy",
    }
    assert wanted <= set(values) and float(values["planning_time"]) > 0


def test_no_thread_outlives_its_node(quick_planner: str) -> None:
    def live_and_die() -> None:
        graph = Graph()
        try:
            scene = Scene(graph)
            scene.calibrator(planner=quick_planner, threads=2)
            scene.goal(transitions=2).wait()
            goal = scene.goal(transitions=1000)
            graph.spin_until(lambda: goal.feedback, what="feedback")
        finally:
            graph.close()

    before = set(threading.enumerate())
    live_and_die()
    gc.collect()
    wait_until(lambda: not set(threading.enumerate()) - before, what="the end of all threads")
