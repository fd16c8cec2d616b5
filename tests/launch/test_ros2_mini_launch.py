"""ros2_mini's launch with real processes: what they are given, what is printed, how everything ends."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.processes import Process, Processes
from tests.helpers.waiting import wait_until

pytest.importorskip("ros2_mini", reason="a full ROS 2 is in use")

from ros2_mini.cli import main

HEADER = """
from launch import LaunchDescription
from launch.actions import *
from launch.conditions import *
from launch.event_handlers import *
from launch.events import Shutdown as ShutdownEvent, matches_action
from launch.events.process import ShutdownProcess
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.parameter_descriptions import *
from launch_ros.substitutions import FindPackageShare

def generate_launch_description():
"""
EXECUTABLES = {
    "printer": "import json, os, sys\nprint(json.dumps([sys.argv[1:], os.environ.get('COLOUR'), "
    "os.isatty(1)]))",
    "failing": "import sys\nprint('no', file=sys.stderr)\nsys.exit(3)",
    # counts what it gets, and ends cleanly after the first
    "waiter": "import signal, time\n"
    "got = []\nsignal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
    "signal.signal(signal.SIGTERM, lambda *_: print('SIGTERM', flush=True))\n"
    "print('waiting', flush=True)\n"
    "while not got: time.sleep(0.02)\n"
    "time.sleep(0.3)\nprint('interrupts:', len(got), flush=True)",
    "stubborn": "import signal, time\n"
    "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
    "print('stubborn', flush=True)\ntime.sleep(60)",
}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ament package 'mini_demo' with small executables; its launch folder is returned."""
    prefix = tmp_path / "prefix"
    marker = prefix / "share/ament_index/resource_index/packages/mini_demo"
    marker.parent.mkdir(parents=True)
    marker.touch()
    libexec = prefix / "lib/mini_demo"
    libexec.mkdir(parents=True)
    for name, code in EXECUTABLES.items():
        (libexec / name).write_text(f"#!{sys.executable} -S\n{code}\n")
        (libexec / name).chmod(0o755)
    launch = prefix / "share/mini_demo/launch"
    launch.mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}{os.pathsep}{os.environ.get('AMENT_PREFIX_PATH', '')}")
    return launch


def write(package: Path, body: str, name: str = "demo.launch.py") -> str:
    """A launch file whose ``generate_launch_description`` has this body."""
    (package / name).write_text(HEADER + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
    return str(package / name)


def finish(process: Process, code: int = 0) -> str:
    assert process.wait(30.0) == code, process.output
    assert "Traceback" not in process.output
    return process.output


def printed(output: str) -> dict[str, Any]:
    """What the 'printer' processes said, by their label."""
    lines = [line for line in output.splitlines() if line.startswith("[") and "] [[" in line]
    return {line[1 : line.index("]")]: json.loads(line[line.index("] ") + 2 :]) for line in lines}


def test_nodes_get_names_namespaces_parameters_and_remappings(processes: Processes, package: Path) -> None:
    (package / "params.yaml").write_text("/**:\n  ros__parameters:\n    a: 1\n")
    write(
        package,
        """
        return LaunchDescription([
            DeclareLaunchArgument('who'),
            SetEnvironmentVariable('COLOUR', ['light', 'blue']),
            Node(package='mini_demo', executable='printer', name='inner', output='screen',
                 arguments=['--who', LaunchConfiguration('who')])])
        """,
        "inner.launch.py",
    )
    write(
        package,
        """
        file = PathJoinSubstitution([FindPackageShare('mini_demo'), 'launch', 'params.yaml'])
        printer = dict(package='mini_demo', executable='printer', output='screen')
        inner = PythonLaunchDescriptionSource([ThisLaunchFileDir(), '/inner.launch.py'])
        return LaunchDescription([
            DeclareLaunchArgument('namespace', default_value='robot'),
            DeclareLaunchArgument('extra', default_value='false', choices=['true', 'false']),
            GroupAction([
                PushRosNamespace(LaunchConfiguration('namespace')),
                SetParameter('use_sim_time', True),
                Node(name='full', namespace='arm',
                     parameters=[file, {'b': 2.5, 'c': LaunchConfiguration('extra')}],
                     remappings=[('state', 'other')], emulate_tty=True, **printer),
                IncludeLaunchDescription(inner, launch_arguments={'who': 'you'}.items()),
            ]),
            Node(exec_name='plain', **printer),
            Node(condition=IfCondition(LaunchConfiguration('extra')), **printer),
            Node(condition=UnlessCondition(LaunchConfiguration('extra')), exec_name='unless', **printer),
        ])
        """,
    )
    output = finish(processes.launch("mini_demo", "demo.launch.py", "namespace:=r2"))
    seen = printed(output)
    assert sorted(label.rpartition("-")[0] for label in seen) == ["plain", "printer", "printer", "unless"]
    full, colour, terminal = seen["printer-1"]
    assert (colour, terminal) == (None, True)
    written = full[full.index("--params-file", full.index("--params-file") + 1) + 1]
    assert full == [
        *("--ros-args", "-r", "__node:=full", "-r", "__ns:=/r2/arm", "-p", "use_sim_time:=True"),
        *("--params-file", str(package / "params.yaml"), "--params-file", written, "-r", "state:=other"),
    ]
    assert not Path(written).exists(), "parameter files must not be left behind"
    inner, colour, terminal = seen["printer-2"]
    assert (colour, terminal) == ("lightblue", False)
    assert inner[:8] == ["--who", "you", "--ros-args", "-r", "__node:=inner", "-r", "__ns:=/r2", "-p"]
    assert seen["plain-3"][:2] == [["--ros-args"], None]
    assert (
        "process has finished cleanly" in output and "[INFO] [printer-1]: process started with pid" in output
    )


def test_event_handlers_timer_and_required_process(processes: Processes, package: Path) -> None:
    path = write(
        package,
        """
        first = ExecuteProcess(cmd=['sleep', '0.1'], name='first')
        waiter = Node(package='mini_demo', executable='waiter', output='screen')
        required = Node(package='mini_demo', executable='failing', on_exit=Shutdown(reason='required'))
        def ended(event, context):
            return LogInfo(msg=f'{event.process_name} ended with {event.returncode}')
        return LaunchDescription([
            RegisterEventHandler(OnProcessStart(target_action=first, on_start=LogInfo(msg='started first'))),
            RegisterEventHandler(OnProcessExit(target_action=first, on_exit=[
                LogInfo(msg='ended first'),
                TimerAction(period=0.2, actions=[LogInfo(msg='timer'), required])])),
            RegisterEventHandler(OnProcessExit(target_action=required, on_exit=ended)),
            RegisterEventHandler(OnShutdown(
                on_shutdown=[LogInfo(msg=['because ', LocalSubstitution('event.reason')])])),
            waiter, first,
        ])
        """,
    )
    output = finish(processes.start("ros2", "launch", path))
    milestones = [
        *("]: started first", "]: ended first", "]: timer", "[failing-3] no", "process has died [pid"),
        *("failing-3 ended with 3", "process[failing-3] was required", "because required"),
        *(
            "sending signal 'SIGINT' to process[waiter-1]",
            "[waiter-1] interrupts: 1",
            "finished cleanly [pid",
        ),
    ]
    positions = [output.rindex(text) for text in milestones]
    assert (
        positions[2]
        < positions[3]
        < positions[4]
        < positions[7]
        < positions[8]
        < positions[9]
        < positions[10]
    )
    assert output.index("[launch.user]: started first") < output.index("[launch.user]: ended first")


def test_escalation_from_sigint_to_sigkill(processes: Processes, package: Path) -> None:
    write(
        package,
        """
        return LaunchDescription([
            Node(package='mini_demo', executable='stubborn', output='screen', sigterm_timeout='0.2')])
        """,
    )
    launch = processes.launch("mini_demo", "demo.launch.py", "sigkill_timeout:=0.3")
    launch.wait_for_output("[stubborn-1] stubborn")
    launch.send_signal(signal.SIGINT)
    output = finish(launch)
    assert "failed to terminate '0.2' seconds after receiving 'SIGINT', escalating to 'SIGTERM'" in output
    assert "failed to terminate '0.5' seconds after receiving 'SIGTERM', escalating to 'SIGKILL'" in output
    assert "exit code -9" in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_the_launch_ends_all_in_order(processes: Processes, package: Path, number: int) -> None:
    node = "Node(package='mini_demo', executable='waiter', output='screen', respawn=True)"
    path = write(package, f"return LaunchDescription([{node}, {node}])")
    launch = processes.start("ros2", "launch", path)
    wait_until(lambda: launch.output.count("] waiting") == 2, 20.0, "both processes")
    launch.send_signal(number)
    output = finish(launch)
    assert output.count("interrupts: 1") == 2 and output.count("process has finished cleanly") == 2
    assert "SIGTERM'" not in output, "no escalation"


def test_signal_before_anything_has_started(processes: Processes, package: Path) -> None:
    path = write(package, "return LaunchDescription([Node(package='mini_demo', executable='waiter')])")
    launch = processes.start("ros2", "launch", path)
    launch.wait_for_output("Default logging verbosity")
    launch.send_signal(signal.SIGINT)
    finish(launch)


def test_ctrl_c_in_a_terminal_reaches_the_processes_once(tmp_path: Path, package: Path) -> None:
    """The terminal sends SIGINT to the whole group; the launch must not send another one."""
    path = write(
        package, "return LaunchDescription([Node(package='mini_demo', executable='waiter', output='screen')])"
    )
    terminal, stdin = pty.openpty()
    log = tmp_path / "launch.log"
    with log.open("wb") as file:
        launch = subprocess.Popen(
            ["ros2", "launch", path],
            stdin=stdin,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(lambda: "] waiting" in log.read_text(), 20.0, "the process")
        os.killpg(launch.pid, signal.SIGINT)
        assert launch.wait(20.0) == 0
    finally:
        launch.kill()
        os.close(terminal)
        os.close(stdin)
    output = log.read_text()
    assert "user interrupted with ctrl-c (SIGINT)" in output and "interrupts: 1" in output
    assert "sending signal" not in output


def test_respawn_and_shutdown_of_one_process(processes: Processes, package: Path) -> None:
    path = write(
        package,
        """
        again = Node(package='mini_demo', executable='failing', respawn=True, respawn_max_retries=2)
        waiter = Node(package='mini_demo', executable='waiter', output='screen')
        stop = EmitEvent(event=ShutdownProcess(process_matcher=matches_action(waiter)))
        return LaunchDescription([
            waiter, again,
            RegisterEventHandler(OnProcessIO(target_action=waiter, on_stdout=lambda event: stop))])
        """,
    )
    output = finish(processes.start("ros2", "launch", path))
    assert output.count("[failing-2] no") == 3 and "[waiter-1] interrupts: 1" in output


def test_log_file_and_silent_output(package: Path, processes: Processes, tmp_path: Path) -> None:
    path = write(package, "return LaunchDescription([Node(package='mini_demo', executable='printer')])")
    output = finish(processes.start("ros2", "launch", path, ROS_LOG_DIR=str(tmp_path / "logs")))
    assert not printed(output), "stdout goes to the log file by default"
    text = (tmp_path / "logs" / "latest" / "launch.log").read_text()
    assert '[printer-1] [["--ros-args"]' in text and "[INFO] [launch]: All log files" in text
    assert printed(finish(processes.start("ros2", "launch", "-a", path)))


def test_show_args(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        package,
        """
        return LaunchDescription([
            DeclareLaunchArgument('mode', default_value='lockstep', description='Pace',
                                  choices=['lockstep', 'realtime']),
            DeclareLaunchArgument('file', default_value=['a', LaunchConfiguration('mode')]),
            GroupAction([DeclareLaunchArgument('late')], condition=IfCondition('false'))])
        """,
    )
    assert main(["launch", "mini_demo", "demo.launch.py", "--show-args"]) == 0
    assert capsys.readouterr().out == (
        "Arguments (pass arguments as '<name>:=<value>'):\n\n"
        "    'mode':\n        Pace. Valid choices are: ['lockstep', 'realtime']\n        (default: "
        "'lockstep')\n\n"
        "    'file':\n        no description given\n        (default: 'a' + LaunchConfig('mode'))\n\n"
        "    'late':*\n        no description given\n\n"
        "* argument(s) which are only used if specific conditions occur\n"
    )


ERRORS = {
    "unknown package": ("[Node(package='no_such', executable='x')]", [], "package 'no_such' not found"),
    "unknown executable": (
        "[Node(package='mini_demo', executable='nope')]",
        [],
        "executable 'nope' not found",
    ),
    "unknown command": ("[ExecuteProcess(cmd=['/no/such'])]", [], "could not be started"),
    "missing argument": ("[DeclareLaunchArgument('a')]", [], "missing required argument 'a'"),
    "wrong choice": ("[DeclareLaunchArgument('a', choices=['b'])]", ["a:=c"], 'value "c" is not valid'),
    "undeclared argument": ("[DeclareLaunchArgument('mode')]", ["mod:=c"], "did you mean 'mode'?"),
    "malformed argument": ("[]", ["mode"], "malformed launch argument 'mode'"),
    "bad node name": (
        "[Node(package='mini_demo', executable='printer', name='a b')]",
        [],
        "Invalid node name 'a b'",
    ),
    "bad condition": ("[LogInfo(msg='x', condition=IfCondition('maybe'))]", [], "got 'maybe'"),
    "unset configuration": ("[LogInfo(msg=LaunchConfiguration('x'))]", [], "'x' does not exist"),
    "exception": ("[nonsense]", [], "NameError: name 'nonsense' is not defined (demo.launch.py, line"),
    "exception at run time": ("[OpaqueFunction(function=lambda context: 1 / 0)]", [], "division by zero"),
    "no launch description": ("None", [], "TypeError"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_of_the_launch_end_it_with_1(
    package: Path, capfd: pytest.CaptureFixture[str], case: str
) -> None:
    entities, arguments, complaint = ERRORS[case]
    path = write(package, f"return LaunchDescription({entities}) if {entities} is not None else None")
    assert main(["launch", path, *arguments]) == 1
    said = capfd.readouterr()
    assert complaint in said.out + said.err and "Traceback" not in said.out + said.err


def test_launch_file_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "mini_demo", "nothing.launch.py"]) == 1
    assert "file 'nothing.launch.py' was not found" in capfd.readouterr().err
    assert main(["launch", "no_such", "nothing.launch.py"]) == 1
    assert "Package 'no_such' not found" in capfd.readouterr().err
    assert main(["launch", "nothing.launch.py"]) == 1
    assert "No launch file supplied" in capfd.readouterr().err


def test_error_ends_what_was_started_before(processes: Processes, package: Path) -> None:
    path = write(
        package,
        "return LaunchDescription([Node(package='mini_demo', executable='waiter', output='screen'), "
        "TimerAction(period=0.5, actions=[Node(package='mini_demo', executable='nope')])])",
    )
    output = finish(processes.start("ros2", "launch", path), code=1)
    assert "[ERROR] [launch]: Caught exception in launch" in output and "process[waiter-1]" in output
