"""ros2_mini's commands on a real graph, and lifecycle nodes under launch."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.helpers.processes import Process, Processes
from tests.helpers.waiting import wait_until

pytest.importorskip("ros2_mini", reason="a full ROS 2 is in use")

from ros2_mini.cli import main

#: a node with one of everything
SERVER = """
import threading, time
import rclpy
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool
from explore_context_interfaces.action import Calibrate

rclpy.init()
node = rclpy.create_node('server', namespace='/demo')
node.declare_parameter('gain', 1.5)
node.declare_parameter('names', ['a', 'b'])
keep = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
latched = node.create_publisher(String, 'latched', keep)
latched.publish(String(data='kept'))
joints = node.create_publisher(JointState, 'joints', 10)
node.create_timer(0.05, lambda: joints.publish(JointState(name=['j'], position=[0.5])))
node.create_subscription(Float64, 'number', lambda m: print('number', m.data, flush=True), 10)

def set_bool(request, response):
    response.success, response.message = True, f'now {request.data}'
    return response

def calibrate(handle):
    for step in range(handle.request.transitions):
        if handle.is_cancel_requested:
            handle.canceled()
            print('cancelled', flush=True)
            return Calibrate.Result()
        handle.publish_feedback(Calibrate.Feedback(step=step))
        time.sleep(0.05)
    handle.succeed()
    return Calibrate.Result(success=True, message='done', transitions=handle.request.transitions)

group = ReentrantCallbackGroup()
node.create_service(SetBool, '~/switch', set_bool)
server = ActionServer(node, Calibrate, '~/calibrate', calibrate, callback_group=group,
                      cancel_callback=lambda handle: CancelResponse.ACCEPT)
print('ready', flush=True)
try:
    rclpy.spin(node, MultiThreadedExecutor(3))
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""
LIFECYCLE = """
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode

rclpy.init()
node = LifecycleNode('demo')
print('ready', flush=True)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""


def script(folder: Path, name: str, code: str) -> str:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{code}")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("server")
    processes = Processes(folder)
    try:
        process = processes.start(script(folder, "server", SERVER))
        process.wait_for_output("ready", 60.0)
        yield process
    finally:
        processes.end_all()


def ros2(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Standard output of a command; run here, because a new process would import rclpy every time."""
    assert main(list(arguments)) == code
    return capsys.readouterr().out


@pytest.mark.usefixtures("server")
class TestGraph:
    def test_lists(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "/demo/server" in ros2(capsys, "node", "list").splitlines()
        topics = ros2(capsys, "topic", "list", "-t").splitlines()
        assert "/demo/latched [std_msgs/msg/String]" in topics
        assert "/demo/number [std_msgs/msg/Float64]" in topics
        assert not any("_action" in topic for topic in topics)
        assert "/demo/server/switch [std_srvs/srv/SetBool]\n" in ros2(capsys, "service", "list", "-t")
        action = "/demo/server/calibrate [explore_context_interfaces/action/Calibrate]\n"
        assert ros2(capsys, "action", "list", "-t") == action

    def test_info(self, capsys: pytest.CaptureFixture[str]) -> None:
        info = ros2(capsys, "node", "info", "/demo/server")
        assert info.startswith("/demo/server\n  Subscribers:\n    /demo/number: std_msgs/msg/Float64\n")
        assert "  Service Clients:\n\n  Action Servers:\n    /demo/server/calibrate: explore" in info
        info = ros2(capsys, "topic", "info", "/demo/latched", "-v")
        assert "Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: server\n" in info
        assert "  Durability: TRANSIENT_LOCAL\n" in info and "Subscription count: 0\n" in info
        assert ros2(capsys, "topic", "info", "/demo/number") == (
            "Type: std_msgs/msg/Float64\nPublisher count: 0\nSubscription count: 1\n"
        )

    def test_echo(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert ros2(capsys, "topic", "echo", "/demo/latched", "--once") == "data: kept\n---\n"
        assert ros2(capsys, "topic", "echo", "/demo/latched", "--once", "--field", "data") == "kept\n---\n"
        text = ros2(capsys, "topic", "echo", "/demo/joints", "--once")
        assert yaml.safe_load(text.removesuffix("---\n"))["position"] == [0.5]
        assert ros2(capsys, "topic", "echo", "/demo/number", "--once", "--timeout", "0.3") == ""

    def test_publish(self, capsys: pytest.CaptureFixture[str], server: Process) -> None:
        out = ros2(capsys, "topic", "pub", "--once", "/demo/number", "std_msgs/msg/Float64", "{data: 4}")
        assert "publisher: beginning loop\npublishing #1: std_msgs.msg.Float64(data=4.0)\n" in out
        server.wait_for_output("number 4.0")

    def test_service(self, capsys: pytest.CaptureFixture[str]) -> None:
        out = ros2(capsys, "service", "call", "/demo/server/switch", "std_srvs/srv/SetBool", "{data: true}")
        assert "requester: making request: std_srvs.srv.SetBool_Request(data=True)\n\nresponse:\n" in out
        assert "SetBool_Response(success=True, message='now True')" in out

    def test_parameters(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "  gain\n  names\n" in ros2(capsys, "param", "list", "/demo/server")
        assert ros2(capsys, "param", "get", "/demo/server", "gain") == "Double value is: 1.5\n"
        assert ros2(capsys, "param", "set", "/demo/server", "gain", "2.5") == "Set parameter successful\n"
        assert ros2(capsys, "param", "get", "--hide-type", "demo/server", "gain") == "2.5\n"
        assert ros2(capsys, "param", "get", "/demo/server", "names") == "String values are: ['a', 'b']\n"
        assert main(["param", "set", "/demo/server", "gain", "text"]) == 0
        assert "Setting parameter failed" in capsys.readouterr().err
        assert main(["param", "get", "/nobody", "gain"]) == 1
        assert capsys.readouterr().err == "Node not found\n"

    def test_action(self, capsys: pytest.CaptureFixture[str]) -> None:
        kind = "explore_context_interfaces/action/Calibrate"
        goal = "{transitions: 2}"
        out = ros2(capsys, "action", "send_goal", "/demo/server/calibrate", kind, goal, "--feedback")
        assert out.count("Feedback:\n    rollout: 0\n") == 2 and "Goal accepted with ID: " in out
        assert "Result:\n    success: true\nmessage: done\n" in out
        assert out.endswith("Goal finished with status: SUCCEEDED\n")

    def test_ctrl_c_cancels_the_goal(self, processes: Processes, server: Process) -> None:
        kind = "explore_context_interfaces/action/Calibrate"
        command = ("action", "send_goal", "-f", "/demo/server/calibrate", kind, "{transitions: 10000}")
        client = processes.start("ros2", *command)
        client.wait_for_output("Feedback:", 60.0)
        assert client.stop(signal.SIGINT) == 2
        # feedback may still arrive between the two
        assert "Canceling goal...\n" in client.output and client.output.endswith("Goal canceled.\n")
        server.wait_for_output("cancelled")

    def test_rate_until_ctrl_c(self, processes: Processes) -> None:
        rate = processes.start("ros2", "topic", "hz", "/demo/joints")
        rate.wait_for_output("average rate: ", 60.0)
        assert rate.stop(signal.SIGINT) == 2
        assert "Traceback" not in rate.output


def test_lifecycle(
    processes: Processes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    executable = script(tmp_path, "node", LIFECYCLE)
    for name in ("first", "second"):
        node = processes.start(executable, "--ros-args", "-r", f"__ns:=/{name}")
        node.wait_for_output("ready", 60.0)

    def shows(expected: str, *arguments: str) -> None:
        """Sooner or later: every command discovers the nodes anew, and a node is seen before its services."""

        def asked() -> bool:
            main(["lifecycle", *arguments])
            return capsys.readouterr().out == expected

        wait_until(asked, 30.0, f"lifecycle {' '.join(arguments)} to show {expected!r}")

    shows("/first/demo\n/second/demo\n", "nodes")
    shows("/first/demo: unconfigured [1]\n/second/demo: unconfigured [1]\n", "get")
    assert ros2(capsys, "lifecycle", "set", "/first/demo", "configure") == "Transitioning successful\n"
    shows("/first/demo: inactive [2]\n/second/demo: unconfigured [1]\n", "get")
    assert ros2(capsys, "lifecycle", "set", "/first/demo", "activate") == "Transitioning successful\n"
    shows("active [3]\n", "get", "/first/demo")
    assert main(["lifecycle", "set", "/first/demo", "activate"]) == 1
    assert "Unknown transition requested, available ones are:\n- deactivate [4]" in capsys.readouterr().err


def test_echo_needs_the_topic_or_its_type(processes: Processes) -> None:
    echo = processes.start("ros2", "topic", "echo", "/late", "--once")
    assert echo.wait(60.0) == 1
    assert "does not appear to be published yet\n" in echo.output
    assert echo.output.endswith("Could not determine the type for the passed topic\n")
    echo = processes.start("ros2", "topic", "echo", "/late", "std_msgs/msg/Float64", "--once", "--csv")
    values = "{data: 2.5}"
    processes.start("ros2", "topic", "pub", "-r", "5", "/late", "std_msgs/msg/Float64", values)
    assert echo.wait(60.0) == 0
    assert echo.output == "2.5\n"


def test_run_becomes_the_executable(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib/mini_run").mkdir(parents=True)
    marker = tmp_path / "share/ament_index/resource_index/packages/mini_run"
    marker.parent.mkdir(parents=True)
    marker.touch()
    script(tmp_path / "lib/mini_run", "tool", "import os, sys\nprint(os.getpid(), sys.argv[1:])\nsys.exit(5)")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}")
    tool = processes.start("ros2", "run", "mini_run", "tool", "--ros-args", "-p", "a:=1")
    assert tool.wait() == 5
    assert tool.output == f"{tool.pid} ['--ros-args', '-p', 'a:=1']\n"
