"""Everything that goes wrong on a robot, with real processes: dead and restarted nodes, signals, bad
messages, rivals, clock jumps. After each, the plant is at rest and no belief holds what it must not hold."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from explore_context_interfaces.msg import ContextBelief, PlantState
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rosgraph_msgs.msg import Clock
from tests.helpers.calibration import (
    ACTIVATE,
    CONFIGURE,
    DEEP,
    PATIENCE,
    Watch,
    quick_planner,
    transitions_of,
)
from tests.helpers.processes import Process, Processes
from tests.helpers.ros import Graph
from tests.helpers.waiting import patience, wait_until

from explore_context.model import ContextModel
from explore_context.nodes import qos
from explore_context.nodes.commander_parameters import model_folder

__all__ = ["quick_planner"]

pytestmark = pytest.mark.timeout(600)  # minutes only where the machine is overloaded

PACKAGE = "explore_context"
WATCHDOG = 1.0
EXIT_SECONDS = 5.0


@pytest.fixture(scope="module")
def model() -> ContextModel:
    return ContextModel.load(model_folder("pendulum"))


class Robot(Watch):
    """Processes of one robot: a pendulum, and calibrators as they are asked for."""

    def __init__(self, graph: Graph, processes: Processes, planner: str, *plant_arguments: str) -> None:
        super().__init__(graph)
        self._processes, self._planner = processes, planner
        self._plant_arguments = plant_arguments
        self.plant = self.start_plant()

    def start_plant(self) -> Process:
        sessions = {info.session_id for info in self.infos}
        plant = self._processes.run(PACKAGE, "pendulum_plant", *self._plant_arguments)
        self.graph.spin_until(
            lambda: self.states and self.infos and self.infos[-1].session_id not in sessions,
            PATIENCE,
            "the plant",
        )
        return plant

    def start(self, executable: str, name: str, *arguments: str) -> Process:
        options = ("-r", f"__node:={name}", "-p", f"planner:={self._planner}", "-p", "threads:=1")
        return self._processes.run(PACKAGE, executable, *options, *arguments)

    def calibrator(self, *arguments: str, name: str = "calibrator") -> Process:
        process = self.start("calibrator", name, *arguments)
        self.bring_up(name)
        return process

    def wait_for_zero(self) -> None:
        """Until the last command that anybody sent is a zero, or nothing, and nobody commands."""
        self.graph.spin_until(
            lambda: self.infos[-1].commander == "" and not any(self.actions[-1].command),
            PATIENCE,
            "a zero action and no commander",
        )


def catches(process: Process, number: int) -> bool:
    """Whether the process has a handler of its own for the signal."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    mask = next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1]
    return bool(int(mask, 16) >> (number - 1) & 1)


def assert_clean_exit(process: Process, number: int) -> None:
    """Exit code 0 within five seconds, and no traceback."""
    started = time.monotonic()
    assert process.stop(number, timeout=60.0) == 0, process.output
    assert time.monotonic() - started < patience(EXIT_SECONDS)
    assert "Traceback" not in process.output, process.output


def assert_ends_while_configuring(graph: Graph, robot: Robot, number: signal.Signals) -> None:
    """Without a plant, configuring waits for one for a minute."""
    alone = ("-r", "plant_info:=nobody", "-p", "plant_timeout:=60.0", "-p", "model:=pendulum")
    lonely = robot.start("calibrator", "lonely", *alone)
    client = graph.node.create_client(ChangeState, "/lonely/change_state")
    graph.spin_until(client.service_is_ready, PATIENCE, "the lonely calibrator")
    robot.values("lonely")  # it hears and is heard
    client.call_async(ChangeState.Request(transition=Transition(id=CONFIGURE)))
    graph.spin_for(1.0)
    assert_clean_exit(lonely, number)
    assert "asked to stop" in lonely.output


def test_killed_calibrator_leaves_the_plant_at_zero_and_its_successor_finishes(
    graph: Graph, processes: Processes, quick_planner: str
) -> None:
    robot = Robot(graph, processes, quick_planner, "-p", "mode:=realtime", "-p", f"watchdog_time:={WATCHDOG}")
    first = robot.calibrator()
    goal = robot.goal(transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 5, PATIENCE, "feedback")
    first.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    first.wait()
    graph.spin_until(lambda: robot.infos[-1].commander == "", PATIENCE, "the command taken away")
    # One more period until the state that tells of it, and what a loaded machine takes to deliver it.
    step = robot.states[-1].step
    graph.spin_until(lambda: robot.states[-1].step > step + 1, PATIENCE, "two steps")
    assert list(robot.states[-1].applied_action) == [0.0]
    assert time.monotonic() - killed < WATCHDOG + patience(2.0)
    robot.start("calibrator", "calibrator")
    # A listener of its own, that never knew the dead one: DDS believes in those for twenty seconds.
    late = Graph()
    try:
        witness = Watch(late)
        witness.bring_up("calibrator")
        assert witness.wait_for_status(ContextBelief.PRIOR).number_of_transitions == 0
        status, result = witness.goal(transitions=4).wait()
        assert status == GoalStatus.STATUS_SUCCEEDED and result.belief.number_of_transitions == 4
    finally:
        late.close()


def test_restarted_plant_aborts_the_goal_and_makes_the_belief_stale(
    graph: Graph, processes: Processes, quick_planner: str, model: ContextModel
) -> None:
    robot = Robot(graph, processes, quick_planner)
    robot.calibrator()
    goal = robot.goal(transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 5, PATIENCE, "feedback")
    old = robot.infos[-1].session_id
    robot.plant.send_signal(signal.SIGKILL)
    robot.plant.wait()
    robot.start_plant()
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_ABORTED
    assert "session changed" in result.message or "no state" in result.message
    belief = robot.wait_for_status(ContextBelief.STALE)
    assert belief.session_id == old
    seen = len(robot.states)
    status, result = robot.goal(transitions=4).wait()
    assert status == GoalStatus.STATUS_SUCCEEDED and result.belief.session_id != old
    of_new = [s for s in robot.states[seen - 5 :] if s.session_id == result.belief.session_id]
    expected = model.belief(*transitions_of(of_new, {1}))
    np.testing.assert_allclose(result.belief.embedding, expected.embedding, atol=1e-5)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_in_every_phase(
    graph: Graph, processes: Processes, quick_planner: str, number: signal.Signals
) -> None:
    robot = Robot(graph, processes, quick_planner)
    unborn = robot.start("calibrator", "unborn")
    wait_until(lambda: catches(unborn, signal.SIGTERM), PATIENCE, "the entry point")
    assert_clean_exit(unborn, number)  # while it imports
    assert_ends_while_configuring(graph, robot, number)
    fresh = robot.start("calibrator", "fresh")
    inactive = robot.start("calibrator", "inactive")
    idle = robot.start("calibrator", "idle")
    waiting = robot.start("swing_up_controller", "waiting", "-r", "context_belief:=no_belief")
    busy = robot.start("calibrator", "busy")
    assert robot.change("inactive", CONFIGURE)
    for name in ("idle", "waiting", "busy"):
        robot.bring_up(name)
    assert robot.values("fresh")["message"] == "inactive"
    for process in (fresh, inactive, idle, waiting):
        assert_clean_exit(process, number)
    # While it thinks about a plan that takes minutes: nothing was commanded yet.
    robot.goal("busy", planner="paper", scheme="open_loop", transitions=500)
    graph.spin_until(lambda: robot.states[-1].rollout > 0, PATIENCE, "the reset")
    assert_clean_exit(busy, number)
    # While it commands.
    runner = robot.calibrator(name="runner")
    goal = robot.goal("runner", transitions=1000)
    graph.spin_until(lambda: len(goal.feedback) > 3, PATIENCE, "feedback")
    assert_clean_exit(runner, number)
    robot.wait_for_zero()
    assert robot.wait_for_status(ContextBelief.ABORTED).number_of_transitions > 0
    assert_clean_exit(robot.plant, number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_while_a_realtime_plant_is_calibrated(
    graph: Graph, processes: Processes, quick_planner: str, number: int
) -> None:
    """The watchdog is far away: only the calibrator's own last command can bring the zero."""
    robot = Robot(graph, processes, quick_planner, "-p", "mode:=realtime", "-p", "watchdog_time:=600.0")
    calibrator = robot.calibrator()
    robot.goal(transitions=1000)
    graph.spin_until(lambda: any(robot.states[-1].applied_action), PATIENCE, "a moving pendulum")
    assert_clean_exit(calibrator, number)
    graph.spin_until(lambda: list(robot.states[-1].applied_action) == [0.0], PATIENCE, "a zero action")
    assert robot.infos[-1].commander == ""


def test_signal_while_the_pendulum_is_swung_up(
    graph: Graph, processes: Processes, quick_planner: str
) -> None:
    robot = Robot(graph, processes, quick_planner, "-p", "mode:=realtime", "-p", f"watchdog_time:={WATCHDOG}")
    robot.calibrator()
    controller = robot.start("swing_up_controller", "swing_up_controller")
    robot.bring_up("swing_up_controller")
    assert robot.goal(transitions=4).wait()[0] == GoalStatus.STATUS_SUCCEEDED
    graph.spin_until(
        lambda: len([a for a in robot.actions if a.sender == "/swing_up_controller"]) > 5,
        PATIENCE,
        "commands",
    )
    assert_clean_exit(controller, signal.SIGTERM)
    robot.wait_for_zero()
    step = robot.states[-1].step
    graph.spin_until(lambda: robot.states[-1].step > step + 1, PATIENCE, "two steps")
    assert list(robot.states[-1].applied_action) == [0.0]


@pytest.fixture
def harmed(
    graph: Graph, processes: Processes, quick_planner: str
) -> Iterator[tuple[Robot, list[PlantState]]]:
    """A robot behind a relay that harms its messages, and what the plant itself said."""
    honest: list[PlantState] = graph.collect(PlantState, "/honest_state", DEEP)
    processes.run(PACKAGE, "fault_relay", "-r", "state_in:=honest_state", "-r", "action:=plant_action",
                  "-r", "action_in:=action", "-p", "seed:=1")  # fmt: skip
    remaps = ("-r", "state:=honest_state", "-r", "action:=plant_action", "-p", "state_republish_period:=0.05")
    robot = Robot(graph, processes, quick_planner, *remaps)
    robot.calibrator()
    yield robot, honest


FAULTS = (
    {"drop": 0.2},
    {"drop": 0.5},
    {"duplicate": 0.5},
    {"reorder": 0.4},
    {"corrupt": 0.4},
    {"drop": 0.2, "duplicate": 0.3, "reorder": 0.2, "corrupt": 0.2},
)


def test_no_bad_message_enters_a_belief(
    graph: Graph, harmed: tuple[Robot, list[PlantState]], model: ContextModel
) -> None:
    robot, honest = harmed
    for faults in FAULTS:
        for name in ("drop", "duplicate", "reorder", "corrupt"):
            assert robot.set_parameter("fault_relay", name, faults.get(name, 0.0)) == ""
        rollout = max(s.rollout for s in honest) + 1
        status, result = robot.goal(transitions=12).wait()
        assert status == GoalStatus.STATUS_SUCCEEDED, (faults, result.message)
        # The result may overtake the last states, which come on another topic.
        graph.spin_until(lambda: (honest[-1].rollout, honest[-1].step) >= (rollout, 12), what="the states")  # noqa: B023
        newest = [s for s in honest if s.rollout == rollout and s.step <= 12]
        expected = model.belief(*transitions_of(newest, {rollout}))
        assert expected.transitions == result.belief.number_of_transitions == 12, faults
        np.testing.assert_allclose(result.belief.embedding, expected.embedding, atol=1e-5)
        assert np.isfinite(result.belief.mean).all() and np.isfinite(result.belief.std).all()
        if "corrupt" in faults:
            assert result.rejected_messages > 0
    values = robot.values("calibrator")
    assert int(values["rejected.non_finite"]) > 0 and int(values["rejected.wrong_size"]) > 0
    assert int(values["duplicates"]) > 0
    assert all(np.isfinite(a.command).all() for a in robot.actions)


def test_realtime_with_gaps_uses_only_consecutive_states(
    graph: Graph, processes: Processes, quick_planner: str, model: ContextModel
) -> None:
    honest: list[PlantState] = graph.collect(PlantState, "/honest_state", DEEP)
    processes.run(PACKAGE, "fault_relay", "-r", "state_in:=honest_state", "-r", "action_in:=action",
                  "-r", "action:=plant_action", "-p", "drop:=0.4", "-p", "reorder:=0.1")  # fmt: skip
    remaps = ("-r", "state:=honest_state", "-r", "action:=plant_action", "-p", "mode:=realtime")
    robot = Robot(graph, processes, quick_planner, *remaps)
    robot.calibrator()
    status, result = robot.goal(transitions=15).wait()
    assert status == GoalStatus.STATUS_SUCCEEDED and result.rejected_messages > 0
    # Every feature of the pooled embedding stems from a transition that really happened.
    embeddings = model.embed(*transitions_of(honest, {1}))
    distance = np.abs(embeddings - np.asarray(result.belief.embedding)).min(axis=0)
    assert distance.max() < 1e-4
    assert int(robot.values("calibrator")["rejected.gap"]) > 0


def test_rival_damaged_model_parameters_and_late_listener(
    graph: Graph, processes: Processes, quick_planner: str, tmp_path: Path
) -> None:
    robot = Robot(graph, processes, quick_planner)
    robot.calibrator()
    rival = robot.start("calibrator", "rival")
    robot.bring_up("rival")
    folder = tmp_path / "damaged"
    shutil.copytree(model_folder("pendulum"), folder)
    (folder / "belief.onnx").write_bytes(b"not a model")
    damaged = robot.start("calibrator", "damaged", "-p", f"model:={folder}")
    assert not robot.change("damaged", CONFIGURE)
    assert "belief.onnx" in damaged.wait_for_output("not configured", PATIENCE)
    assert not robot.change("damaged", ACTIVATE)

    goal = robot.goal(transitions=300)
    graph.spin_until(lambda: len(goal.feedback) > 3, PATIENCE, "feedback")
    status, result = robot.goal("rival", transitions=2).wait()
    assert status == GoalStatus.STATUS_ABORTED and result.message == "plant is commanded by /calibrator"
    assert rival.exit_code is None

    assert robot.set_parameter("calibrator", "samples", 4) == ""
    assert robot.set_parameter("calibrator", "deadline_margin", 0.03) == ""
    assert "cannot change while" in robot.set_parameter("calibrator", "model", str(folder))
    assert robot.set_parameter("plant", "mode", "realtime") != ""

    late = Graph()
    try:
        beliefs = late.collect(ContextBelief, "context_belief", qos.LATCHED)
        late.spin_until(lambda: late.node.count_publishers("context_belief"), PATIENCE, "discovery")
        late.spin_until(lambda: beliefs, 1.0, "the latched belief")
    finally:
        late.close()

    # Another system while it runs: what was learned is about the old one.
    assert robot.set_parameter("plant", "hidden_context", [1.0, 1.0, 1.0, 1.0]) == ""
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_ABORTED and "session changed" in result.message
    robot.wait_for_status(ContextBelief.STALE)


def test_clock_jumps_do_no_harm(graph: Graph, processes: Processes, quick_planner: str) -> None:
    clock = graph.node.create_publisher(Clock, "/clock", 10)
    now, pace = [1000.0], [0.05]

    def tick() -> None:
        now[0] += pace[0]
        message = Clock()
        message.clock.sec, message.clock.nanosec = int(now[0]), int(now[0] % 1 * 1e9)
        clock.publish(message)

    graph.node.create_timer(0.05, tick)
    sim = ("-p", "use_sim_time:=true")
    robot = Robot(graph, processes, quick_planner, *sim, "-p", "mode:=realtime", "-p", "watchdog_time:=30.0")
    calibrator = robot.calibrator(*sim)
    goal = robot.goal(transitions=25)
    for jump in (100.0, -50.0, 3600.0):
        number = len(goal.feedback)
        graph.spin_until(lambda number=number: len(goal.feedback) > number + 3, PATIENCE, "feedback")  # type: ignore[misc]
        now[0] += jump
    status, result = goal.wait()
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert result.transitions == 25 and 0 < result.duration < 300
    assert_clean_exit(calibrator, signal.SIGINT)
    assert "Traceback" not in robot.plant.output


def test_two_robots_in_two_namespaces(graph: Graph, processes: Processes, quick_planner: str) -> None:
    arguments = (f"planner:={quick_planner}", "transitions:=5")
    robots = [Watch(graph, name) for name in ("robot1", "robot2")]
    launches = [
        processes.launch(
            PACKAGE, "pendulum_calibration.launch.py", f"namespace:={name}", f"seed:={seed}", *arguments
        )
        for seed, name in enumerate(("robot1", "robot2"))
    ]
    beliefs = [robot.wait_for_status(ContextBelief.CALIBRATED, 2 * PATIENCE) for robot in robots]
    assert [b.number_of_transitions for b in beliefs] == [5, 5]
    assert beliefs[0].session_id != beliefs[1].session_id
    for robot, name in zip(robots, ("robot1", "robot2"), strict=True):
        # The first ones may have come before discovery; of those that were seen none is the other robot's.
        assert {a.sender for a in robot.actions} <= {f"/{name}/calibrator"}
    for launch in launches:
        assert launch.stop(signal.SIGINT, timeout=15.0) == 0, launch.output
        assert "Traceback" not in launch.output
        assert not _children(launch.pid)


def _children(group: int) -> list[int]:
    """Processes of a process group that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getpgid(int(entry.name)) == group:
                found.append(int(entry.name))
        except ProcessLookupError:
            continue
    return found
