"""The launch files as a user starts them: they calibrate, sum up and end by themselves, and leave nothing."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest
import yaml
from explore_context_interfaces.msg import ContextBelief
from tests.helpers.calibration import PATIENCE, Watch, quick_planner
from tests.helpers.processes import Process, Processes, descendants
from tests.helpers.robot import PARAMETERS, Robot
from tests.helpers.ros import Graph
from tests.helpers.waiting import wait_until

from explore_context.nodes.commander_parameters import model_folder

__all__ = ["quick_planner"]

pytestmark = pytest.mark.timeout(600)  # minutes only where the machine is overloaded

PACKAGE = "explore_context"
WELL_KNOWN = (
    *("namespace", "use_sim_time", "params_file", "autostart", "log_level", "scheme", "planner", "seed"),
    *("mode", "transitions", "rollouts", "exit_when_done", "dashboard", "record", "prior_bag"),
    *("robot", "commands"),
)
FIRST_PORT, PORTS = 7400, 250  # of DDS domain 0, and per domain


def shared_memory_ports() -> set[str]:
    """Fast DDS's shared-memory ports of this test's domain."""
    first = FIRST_PORT + PORTS * int(os.environ["ROS_DOMAIN_ID"])
    numbers = {
        path.name: re.fullmatch(r"fastrtps_port(\d+)", path.name) for path in Path("/dev/shm").iterdir()
    }
    return {name for name, match in numbers.items() if match and first <= int(match[1]) < first + PORTS}


def finish(launch: Process, exit_code: int = 0) -> str:
    assert launch.wait(300.0) == exit_code, launch.output
    if exit_code == 0:
        assert "Traceback" not in launch.output, launch.output
    return launch.output


def needs_model(name: str) -> None:
    if not (model_folder(name) / "manifest.yaml").is_file():
        pytest.skip(f"no model {name}")


def test_pendulum_swing_up_sums_up_and_ends_by_itself(processes: Processes, quick_planner: str) -> None:
    ports = shared_memory_ports()
    launch = processes.launch(
        PACKAGE,
        "pendulum_swing_up.launch.py",
        "exit_when_done:=true",
        f"planner:={quick_planner}",
        f"swing_up_planner:={quick_planner}",
        "transitions:=6",
        "seed:=3",
        "namespace:=lab",
    )
    output = finish(launch)
    for line in (
        r"calibration of pendulum complete",
        r"entropy +[\d.-]+ -> [\d.-]+ nat \([\d.-]+ nat gained\)",
        r"transitions used +6 in 1 rollout",
        r"quadrants covered +\d of 4",
        r"planning time +median \d+ ms, longest \d+ ms, 0 deadlines missed",
        r"swing-up return +-[\d.]+, (not )?upright at the end",
    ):
        assert re.search(line, output), (line, output)
    assert shared_memory_ports() <= ports


@pytest.mark.parametrize(
    ("file", "model", "covered"),
    [
        ("toy_calibration.launch.py", "toy_inner", "states covered"),
        ("mountain_car_calibration.launch.py", "mountain_car", "terrain covered"),
    ],
)
def test_the_other_systems(
    processes: Processes, quick_planner: str, file: str, model: str, covered: str
) -> None:
    needs_model(model)
    launch = processes.launch(PACKAGE, file, "exit_when_done:=true", f"planner:={quick_planner}")
    output = finish(launch)
    assert f"calibration of {model} complete" in output and covered in output


def test_a_failed_calibration_ends_with_an_error(processes: Processes, tmp_path: Path) -> None:
    launch = processes.launch(
        PACKAGE, "pendulum_calibration.launch.py", "exit_when_done:=true", f"model:={tmp_path}"
    )
    output = finish(launch, exit_code=1)
    assert "manifest.yaml: missing" in output and "cannot configure calibrator" in output


def send(launch: Process, executable: str, number: signal.Signals) -> None:
    """To the launch's own process of that name."""
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in descendants(launch.pid)}
    (pid,) = [pid for pid, command in commands.items() if f"/{executable}\0" in command]
    os.kill(pid, number)


@pytest.mark.parametrize(
    ("victim", "number", "complaint"),
    [
        ("calibrator", signal.SIGKILL, r"calibrator-\d+ ended with exit code -9"),
        ("swing_up_controller", signal.SIGKILL, r"swing_up_controller-\d+ ended with exit code -9"),
        ("calibrator", signal.SIGSTOP, "calibrator has not answered"),
    ],
)
def test_a_killed_or_hanging_node_ends_the_launch_with_an_error(
    processes: Processes, quick_planner: str, victim: str, number: signal.Signals, complaint: str
) -> None:
    launch = processes.launch(
        PACKAGE,
        "pendulum_swing_up.launch.py",
        "exit_when_done:=true",
        "mode:=realtime",
        f"planner:={quick_planner}",
        f"swing_up_planner:={quick_planner}",
        "transitions:=3" if victim == "swing_up_controller" else "transitions:=100000",
    )
    launch.wait_for_output("swinging up" if victim == "swing_up_controller" else "step ", 120.0)
    send(launch, victim, number)
    assert re.search(complaint, finish(launch, exit_code=1))


def test_a_node_that_cannot_start_ends_the_launch_at_once(processes: Processes) -> None:
    """Not when the manager has waited for it long enough (30 s)."""
    launch = processes.launch(
        PACKAGE, "pendulum_calibration.launch.py", "exit_when_done:=true", "scheme:=spiral"
    )
    output = finish(launch, exit_code=1)
    assert "spiral" in output and re.search(r"calibrator-\d+ ended with exit code 2", output)
    assert "in vain" not in output


def test_a_launch_stays_until_it_is_interrupted(
    graph: Graph, processes: Processes, quick_planner: str
) -> None:
    """Realtime, without an end of its own; the nodes go on running after the calibration."""
    launch = processes.launch(
        PACKAGE,
        "pendulum_calibration.launch.py",
        "mode:=realtime",
        "scheme:=random",
        "transitions:=5",
        f"planner:={quick_planner}",
    )
    watch = Watch(graph)
    belief = watch.wait_for_status(ContextBelief.CALIBRATED, 3 * PATIENCE)
    graph.spin_until(lambda: watch.infos and watch.states, PATIENCE, "the plant")  # on topics of their own
    assert belief.number_of_transitions == 5 and watch.infos[-1].mode == "realtime"
    step = watch.states[-1].step
    graph.spin_until(lambda: watch.states[-1].step > step + 3, PATIENCE, "a plant that goes on")
    assert launch.stop(signal.SIGINT, timeout=60.0) == 0
    assert "Traceback" not in launch.output


def test_the_same_launch_twice_is_refused(processes: Processes, quick_planner: str) -> None:
    """The second one's plant is another system to the first; but no goal takes the place of another."""
    arguments = ("pendulum_calibration.launch.py", "mode:=realtime", f"planner:={quick_planner}")
    first = processes.launch(PACKAGE, *arguments, "transitions:=100000")
    first.wait_for_output("step ", 120.0)
    second = processes.launch(PACKAGE, *arguments, "transitions:=3", "exit_when_done:=true")
    assert "namespace of its own" in finish(second, exit_code=1)
    assert "preempted" not in first.output
    assert first.stop(signal.SIGINT, timeout=60.0) == 0


def test_without_autostart_nothing_moves(graph: Graph, processes: Processes) -> None:
    launch = processes.launch(PACKAGE, "pendulum_calibration.launch.py", "autostart:=false")
    watch = Watch(graph)
    assert watch.values("calibrator")["message"] == "inactive"
    assert not watch.beliefs and not watch.actions
    assert launch.stop(signal.SIGINT, timeout=60.0) == 0


def test_arguments_are_those_that_users_know(processes: Processes) -> None:
    launch = processes.launch(PACKAGE, "pendulum_swing_up.launch.py", "--show-args")
    output = finish(launch)
    for name in WELL_KNOWN:
        assert f"'{name}'" in output


def test_demonstration_draws_sums_up_and_leaves_a_figure(
    processes: Processes, quick_planner: str, tmp_path: Path
) -> None:
    figure = tmp_path / "figure.png"
    command = (sys.executable, "-m", "explore_context.demo", "--no-dashboard", "--figure", str(figure))
    output = finish(processes.start(*command, "--planner", quick_planner))
    assert "calibrating" in output and "swinging up" in output and "swing-up return" in output
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_interrupted_demonstration_leaves_no_process(processes: Processes) -> None:
    demo = processes.start(sys.executable, "-m", "explore_context.demo", "--no-dashboard")
    demo.wait_for_output("step   0", 120.0)
    launched = descendants(demo.pid)
    assert launched
    assert demo.stop(signal.SIGINT, timeout=90.0) == 130
    assert "Traceback" not in demo.output and "interrupted" in demo.output
    wait_until(lambda: not [pid for pid in launched if Path(f"/proc/{pid}").exists()], what="the end of all")


def test_a_robot_behind_the_joint_bridge(
    graph: Graph, processes: Processes, quick_planner: str, tmp_path: Path
) -> None:
    robot = Robot(graph, "effort/commands")
    params_file = tmp_path / "robot.yaml"
    params_file.write_text(yaml.safe_dump({"/**/plant": {"ros__parameters": PARAMETERS}}))
    launch = processes.launch(
        PACKAGE,
        "pendulum_calibration.launch.py",
        *("robot:=joint_bridge", "commands:=effort/commands", f"params_file:={params_file}"),
        *("model:=pendulum", "exit_when_done:=true", f"planner:={quick_planner}", "transitions:=6"),
    )
    graph.spin_until(lambda: launch.exit_code is not None, 300.0, "the end of the calibration")
    assert "transitions used   6 in 1 rollout" in finish(launch)
    assert any(robot.commands) and robot.commands[-1] == 0.0


def test_a_plant_that_runs_already(processes: Processes, quick_planner: str) -> None:
    plant = processes.run(PACKAGE, "pendulum_plant")
    plant.wait_for_output("session", 60.0)
    arguments = ("pendulum_calibration.launch.py", "robot:=none", f"planner:={quick_planner}")
    launch = processes.launch(PACKAGE, *arguments, "transitions:=3", "exit_when_done:=true")
    output = finish(launch)
    assert "transitions used   3 in 1 rollout" in output and "pendulum_plant" not in output
    assert plant.exit_code is None


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ("params_file:=/nowhere.yaml", "params_file:=/nowhere.yaml is not a file"),
        ("log_level:=loud", "log_level:=loud is not one of debug, info"),
        ("autostart:=maybe", "autostart:=maybe is neither true nor false"),
    ],
)
def test_wrong_arguments_start_nothing(processes: Processes, argument: str, complaint: str) -> None:
    output = finish(processes.launch(PACKAGE, "pendulum_calibration.launch.py", argument), exit_code=1)
    assert complaint in output and "process started" not in output


def test_an_impatient_ctrl_c_is_no_failure(processes: Processes) -> None:
    arguments = ("pendulum_calibration.launch.py", "exit_when_done:=true", "transitions:=100000")
    launch = processes.launch(PACKAGE, *arguments)
    launch.wait_for_output("step ", 120.0)
    for pid in (launch.pid, *descendants(launch.pid)):  # as a terminal does: everybody at once
        os.kill(pid, signal.SIGINT)
    assert finish(launch).count("calibration failed") == 0


def test_arguments_of_simulated_plants_are_refused_for_robots(processes: Processes) -> None:
    arguments = ("pendulum_calibration.launch.py", "robot:=joint_bridge", "mode:=lockstep")
    output = finish(processes.launch(PACKAGE, *arguments), exit_code=1)
    assert "mode is an argument of simulated plants" in output and "process started" not in output
