"""The plants' launch files, as a user starts them."""

from __future__ import annotations

import signal
import time

import pytest
from explore_context_interfaces.msg import PlantInfo, PlantState
from tests.helpers.processes import Processes
from tests.helpers.ros import Graph
from tests.helpers.waiting import patience

from explore_context.nodes import qos


@pytest.mark.parametrize(
    ("file", "arguments", "plant"),
    [
        ("pendulum_plant", (), "pendulum"),
        ("toy_plant", (), "toy_inner"),
        ("toy_plant", ("plant:=toy_outer",), "toy_outer"),
        ("mountain_car_plant", (), "mountain_car"),
    ],
)
def test_launch_file_brings_up_its_plant(
    processes: Processes, graph: Graph, file: str, arguments: tuple[str, ...], plant: str
) -> None:
    infos = graph.collect(PlantInfo, "plant_info", qos.LATCHED)
    launch = processes.launch("explore_context", f"{file}.launch.py", *arguments)
    graph.spin_until(lambda: infos, 20.0, "plant_info")
    assert (infos[0].plant, infos[0].mode) == (plant, "lockstep")
    start = time.monotonic()
    assert launch.stop(signal.SIGINT) == 0
    assert time.monotonic() - start < patience(5.0)
    assert "Traceback" not in launch.output and "finished cleanly" in launch.output


def test_arguments_reach_the_node(processes: Processes, graph: Graph) -> None:
    states = graph.collect(PlantState, "/robot1/state", qos.STATE)
    infos = graph.collect(PlantInfo, "/robot1/plant_info", qos.LATCHED)
    processes.launch(
        "explore_context",
        "pendulum_plant.launch.py",
        "namespace:=robot1",
        "mode:=realtime",
        "hidden_context:=[1, -1.5, 0.5, 2]",
        "publish_hidden_context:=true",
        "seed:=5",
    )
    graph.spin_until(lambda: infos and states and states[-1].step >= 3, 20.0, "a running robot1")
    assert infos[-1].mode == "realtime" and list(infos[-1].hidden_context) == [1.0, -1.5, 0.5, 2.0]


def test_topic_echo_shows_a_state(processes: Processes) -> None:
    plant = processes.launch("explore_context", "pendulum_plant.launch.py")
    plant.wait_for_output("session", 30.0)  # Jazzy's echo does not wait for a topic to appear
    echo = processes.start("ros2", "topic", "echo", "/state", "--once")
    assert echo.wait(30.0) == 0
    for text in ("session_id:", "rollout: 0", "step: 0", "observation:", "applied_action: []", "---"):
        assert text in echo.output


def test_show_args_lists_the_arguments(processes: Processes) -> None:
    shown = processes.launch("explore_context", "toy_plant.launch.py", "--show-args")
    assert shown.wait() == 0
    for name in ("params_file", "namespace", "use_sim_time", "log_level", "mode", "seed"):
        assert f"'{name}'" in shown.output


def test_unknown_plant_is_a_failure(processes: Processes) -> None:
    launch = processes.launch("explore_context", "toy_plant.launch.py", "plant:=unicycle")
    launch.wait_for_output("unknown plant 'unicycle'")
    launch.wait(20.0)
    assert "process has died" in launch.output and "Traceback" not in launch.output
