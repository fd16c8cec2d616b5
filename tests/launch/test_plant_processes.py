"""Plant nodes as real processes: start, signals, a killed commander, restarts."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from explore_context_interfaces.msg import PlantInfo, PlantState
from tests.helpers.processes import Process, Processes
from tests.helpers.ros import Graph
from tests.helpers.waiting import patience

from explore_context.nodes import qos

WATCHDOG, PERIOD = 0.5, 0.1
# For the scheduling of a loaded machine; the plant's own reaction is exact (tests/unit/test_command.py).
SLACK = 0.1


def start_commander(processes: Processes, value: float = 1.0, sender: str = "commander") -> Process:
    return processes.start(sys.executable, "-m", "tests.helpers.commander", str(value), sender)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("executable", "plant"),
    [("toy_plant", "toy_inner"), ("pendulum_plant", "pendulum"), ("mountain_car_plant", "mountain_car")],
)
def test_ends_cleanly_on_signals(processes: Processes, executable: str, plant: str, number: int) -> None:
    process = processes.run("explore_context", executable, "-p", "mode:=realtime")
    process.wait_for_output("session")
    assert plant in process.output
    start = time.monotonic()
    assert process.stop(number) == 0
    assert time.monotonic() - start < patience(2.0)
    assert "Traceback" not in process.output


def test_second_signal_does_no_harm(processes: Processes) -> None:
    process = processes.run("explore_context", "pendulum_plant")
    process.wait_for_output("session")
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
    assert process.wait(2.0) == 0
    assert "Traceback" not in process.output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("-p", "plant:=unicycle"), "unknown plant 'unicycle'"),
        (("-p", "hidden_context:=[1.0]"), "factor_1"),
        (("-p", "mode:=fast"), "choose one of lockstep, realtime"),
    ],
)
def test_bad_parameters_end_with_one_sentence(processes: Processes, arguments, text: str) -> None:
    process = processes.run("explore_context", "pendulum_plant", *arguments)
    assert process.wait() == 2
    assert text in process.output
    assert "Traceback" not in process.output and len(process.output.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_killed_commander_leaves_a_realtime_plant_at_zero_within_the_watchdog_time(
    processes: Processes, graph: Graph, number: int
) -> None:
    states = graph.collect(PlantState, "state", qos.STATE)
    infos = graph.collect(PlantInfo, "plant_info", qos.LATCHED)
    processes.run(
        "explore_context", "pendulum_plant", "-p", "mode:=realtime", "-p", f"watchdog_time:={WATCHDOG}"
    )
    commander = start_commander(processes, 1.5)
    graph.spin_until(lambda: states and list(states[-1].applied_action) == [1.5], 20.0, "the action")
    graph.spin_until(lambda: infos and infos[-1].commander == "commander", what="the commander on plant_info")
    commander.send_signal(number)
    killed = time.time()
    states.clear()
    graph.spin_until(lambda: states and list(states[-1].applied_action) == [0.0], 3.0, "the zero action")
    stamp = states[-1].header.stamp
    # The state tells of the step that ends with it; zero has been in force since that step began.
    in_force = stamp.sec + 1e-9 * stamp.nanosec - PERIOD
    assert in_force - killed <= WATCHDOG + patience(SLACK)
    graph.spin_until(lambda: infos[-1].commander == "", 2.0, "the release")


def test_second_commander_is_refused_until_the_first_is_gone(processes: Processes, graph: Graph) -> None:
    states = graph.collect(PlantState, "state", qos.STATE)
    infos = graph.collect(PlantInfo, "plant_info", qos.LATCHED)
    plant = processes.run("explore_context", "pendulum_plant", "-p", "mode:=realtime")
    first = start_commander(processes, 1.0, "first")
    graph.spin_until(
        lambda: states and list(states[-1].applied_action) == [1.0], 20.0, "the first one's action"
    )
    start_commander(processes, -1.0, "second")
    plant.wait_for_output("second_commander: 'second' refused: 'first' commands this plant")
    assert all(list(state.applied_action) in ([], [0.0], [1.0]) for state in states)
    first.send_signal(signal.SIGKILL)
    graph.spin_until(lambda: list(states[-1].applied_action) == [-1.0], 5.0, "the second one's action")
    assert infos[-1].commander == "second"


def segments_of(process: Process) -> set[Path]:
    """Shared-memory segments of Fast DDS that a process owns: it keeps their locks open."""
    files = [os.readlink(file) for file in Path(f"/proc/{process.pid}/fd").iterdir()]
    locks = [re.fullmatch(r"(/dev/shm/fastrtps_[0-9a-f]+)_el", file) for file in files]
    return {Path(lock[1]) for lock in locks if lock}


def test_the_next_node_removes_what_a_killed_one_left_in_shared_memory(processes: Processes) -> None:
    living, killed = (processes.run("explore_context", "toy_plant", "-r", f"__ns:=/{n}") for n in "ab")
    for process in (living, killed):
        process.wait_for_output("session", 60.0)
    kept, left = segments_of(living), segments_of(killed)
    assert kept and left
    killed.stop(signal.SIGKILL)
    assert all(segment.exists() for segment in left)
    for segment in kept | left:
        os.utime(f"{segment}_el", (0, 0))  # as old as if nobody had just started
    processes.run("explore_context", "toy_plant", "-r", "__ns:=/c").wait_for_output("session", 60.0)
    assert not any(segment.exists() or Path(f"{segment}_el").exists() for segment in left)
    assert all(segment.exists() for segment in kept)


def steps_of(states: list[PlantState], session: str) -> dict[int, list[float]]:
    return {state.step: list(state.observation) for state in states if state.session_id == session}


def test_lockstep_with_a_commander_runs_on_and_is_repeatable(processes: Processes, graph: Graph) -> None:
    states = graph.collect(PlantState, "state", 1000)
    runs = []
    for _ in range(2):
        plant = processes.run("explore_context", "toy_plant", "-p", "seed:=4")
        session = plant.wait_for_output("seed 4").split("session ")[1].split(",")[0]
        graph.spin_until(partial(steps_of, states, session), 20.0, "the first state")
        commander = start_commander(processes, 0.5)
        graph.spin_until(lambda: states[-1].step >= 30, 20.0, "thirty steps")
        commander.end()
        assert plant.stop() == 0
        runs.append(steps_of(states, session))
    both = runs[0].keys() & runs[1].keys()
    assert len(both) >= 20 and all(runs[0][step] == runs[1][step] for step in both)


def test_restarted_plant_is_another_session(processes: Processes, graph: Graph) -> None:
    infos = graph.collect(PlantInfo, "plant_info", qos.LATCHED)
    first = processes.run("explore_context", "pendulum_plant")
    graph.spin_until(lambda: infos, 20.0, "the first session")
    first.stop(signal.SIGKILL)
    processes.run("explore_context", "pendulum_plant")
    graph.spin_until(lambda: infos[-1].session_id != infos[0].session_id, 20.0, "the second session")
