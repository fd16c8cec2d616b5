"""The lifecycle manager on an in-process graph: what it makes of messages, and of a calibrator that stops."""

from __future__ import annotations

import numpy as np
import pytest
from explore_context_interfaces.msg import PlantInfo, PlantState
from std_msgs.msg import Bool, Float64
from tests.helpers.calibration import DEACTIVATE, SHUTDOWN, Scene, quick_planner
from tests.helpers.ros import Graph

from explore_context.nodes import companion, lifecycle_manager_node, qos
from explore_context.nodes.lifecycle_manager_node import LifecycleManagerNode
from explore_context.nodes.swing_up_node import SwingUpNode

__all__ = ["quick_planner"]


def manager(graph: Graph, *, calibrate: bool = True) -> LifecycleManagerNode:
    return graph.add(LifecycleManagerNode(**graph.options(nodes=["calibrator"], calibrate=calibrate)))


def test_a_malformed_plant_info_does_not_kill_it(graph: Graph, quick_planner: str) -> None:
    graph.node.create_publisher(PlantInfo, "plant_info", qos.LATCHED).publish(PlantInfo(plant="nonsense"))
    scene = Scene(graph)
    scene.calibrator(active=False, planner=quick_planner, transitions=3)
    node = manager(graph)
    graph.spin_until(lambda: node.exit_code is not None, 60.0, "the end of its work")
    assert node.exit_code == 0


def test_the_pendulums_end_is_that_of_the_episode(graph: Graph) -> None:
    scene = Scene(graph)
    node = manager(graph, calibrate=False)
    node._on_info(scene.infos[-1])
    node._on_state(PlantState(observation=[1.0, 0.0, 0.0]))
    node._on_return(Float64(data=-200.0))
    node._on_state(PlantState(observation=[-1.0, 0.0, 0.0]))
    assert node._swing_up == (-200.0, True)


def test_a_calibrator_that_hangs_in_the_middle_is_a_failure(
    graph: Graph, quick_planner: str, monkeypatch
) -> None:
    monkeypatch.setattr(companion, "_SILENCE_SECONDS", 2.0)
    scene = Scene(graph)
    calibrator = scene.calibrator(active=False, planner=quick_planner, transitions=100000)
    node = manager(graph)
    graph.spin_until(lambda: node._goal is not None, 60.0, "the goal")
    graph.executor.remove_node(calibrator)  # it is there, but nobody calls it any more
    graph.spin_until(lambda: node.exit_code is not None, 30.0, "the end")
    assert node.exit_code == 1
    graph.executor.add_node(calibrator)


def test_a_calibrator_that_is_deactivated_in_the_middle_is_a_failure(
    graph: Graph, quick_planner: str
) -> None:
    scene = Scene(graph)
    scene.calibrator(active=False, planner=quick_planner, transitions=100000)
    node = manager(graph)
    graph.spin_until(lambda: node._goal is not None, 60.0, "the goal")
    assert scene.change("calibrator", DEACTIVATE)
    graph.spin_until(lambda: node.exit_code is not None, 30.0, "the end")
    assert node.exit_code == 1 and np.isfinite(scene.beliefs[-1].mean).all()


def test_a_calibrator_that_was_shut_down_is_a_failure(
    graph: Graph, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = Scene(graph)
    scene.calibrator(active=False)
    assert scene.change("calibrator", SHUTDOWN)
    node = manager(graph, calibrate=False)
    graph.spin_until(lambda: node.exit_code is not None, 60.0, "the end")
    assert node.exit_code == 1 and "it was shut down; start it again" in capfd.readouterr().err


def test_a_return_of_earlier_is_not_that_of_this_calibration(graph: Graph, quick_planner: str) -> None:
    latched = graph.node.create_publisher(Float64, "swing_up_return", qos.LATCHED)
    latched.publish(Float64(data=-200.0))
    scene = Scene(graph)
    scene.calibrator(active=False, planner=quick_planner, transitions=3)
    options = graph.options(nodes=["calibrator"], calibrate=True, wait_for_return=True, return_timeout=1.0)
    node = graph.add(LifecycleManagerNode(**options))
    graph.spin_until(lambda: node.exit_code is not None, 60.0, "the end")
    assert node.exit_code == 1  # nobody swings up


def test_it_begins_when_its_spectators_are_ready(graph: Graph, quick_planner: str) -> None:
    scene = Scene(graph)
    scene.calibrator(active=False, planner=quick_planner, transitions=3)
    options = graph.options(nodes=["calibrator"], calibrate=True, spectators=["camera", "judge"])
    node = graph.add(LifecycleManagerNode(**options))
    ready = [graph.publisher(Bool, f"{name}/ready", qos.LATCHED) for name in ("camera", "judge")]
    ready[0].publish(Bool(data=True))
    seen = len(scene.states)  # a plant that nobody commands goes on telling its state
    graph.spin_until(lambda: len(scene.states) > seen + 2, what="a while")
    assert node._doing == "waiting for spectators" and node.exit_code is None
    ready[1].publish(Bool(data=True))
    graph.spin_until(lambda: node.exit_code is not None, 60.0, "the end")
    assert node.exit_code == 0


def test_a_spectator_that_never_comes_is_no_failure(
    graph: Graph, quick_planner: str, monkeypatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lifecycle_manager_node, "_SPECTATORS", 0.3)
    scene = Scene(graph)
    scene.calibrator(active=False, planner=quick_planner, transitions=3)
    options = graph.options(nodes=["calibrator"], calibrate=True, spectators=["nobody"])
    node = graph.add(LifecycleManagerNode(**options))
    graph.spin_until(lambda: node.exit_code is not None, 60.0, "the end")
    assert node.exit_code == 0 and "waited 0.3 s for nobody/ready in vain" in capfd.readouterr().err


@pytest.mark.parametrize("surprise", ["the plant hangs", "the plant is another one"])
def test_a_swing_up_that_cannot_end_is_not_waited_for(
    graph: Graph, quick_planner: str, surprise: str, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = Scene(graph)
    scene.calibrator(active=False, planner=quick_planner, transitions=3)
    options = graph.options(threads=1, planner=quick_planner, episode=100000, state_timeout=1.0)
    controller = graph.add(SwingUpNode(**options))
    names = ["calibrator", "swing_up_controller"]
    options = graph.options(nodes=names, calibrate=True, wait_for_return=True, return_timeout=600.0)
    node = graph.add(LifecycleManagerNode(**options))
    begun = "waiting for the swing-up"
    graph.spin_until(lambda: node._doing == begun and controller._run is not None, 60.0, "the swing-up")
    if surprise == "the plant hangs":
        graph.executor.remove_node(scene.plant)
    else:
        scene.reset(new_system=True)
    graph.spin_until(lambda: node.exit_code is not None, 30.0, "the end")
    assert node.exit_code == 1
    reason = {"the plant hangs": "swing-up given up", "the plant is another one": "became another system"}
    assert reason[surprise] in capfd.readouterr().err
    graph.executor.add_node(scene.plant)
