"""ros2_mini's commands as far as they need no graph: messages, definitions, packages, refusals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip("ros2_mini", reason="a full ROS 2 is in use")

from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension

from ros2_mini import message_text
from ros2_mini.cli import main
from ros2_mini.commands.launch import parse_launch_arguments
from ros2_mini.commands.topic_hz import rate_text
from ros2_mini.errors import CommandError
from ros2_mini.message_fill import fill, parse_values
from ros2_mini.observers import local_participants

STATE = JointState(
    header=Header(stamp=Time(sec=3, nanosec=5), frame_id="base"), name=["a", "b"], position=[0.1, 1e-05]
)


def test_message_as_yaml() -> None:
    text = message_text.to_yaml(STATE)
    assert text == (
        "header:\n  stamp:\n    sec: 3\n    nanosec: 5\n  frame_id: base\n"
        "name:\n- a\n- b\nposition:\n- 0.1\n- 1.0e-05\nvelocity: []\neffort: []\n"
    )
    assert list(yaml.safe_load(text)) == ["header", "name", "position", "velocity", "effort"]


def test_message_shortened() -> None:
    message = JointState(name=["x" * 200], position=[float(i) for i in range(200)])
    plain = message_text.to_plain(message, truncate_length=128)
    assert len(plain["position"]) == 129 and plain["position"][-1] == "..."
    assert plain["name"] == ["x" * 128 + "..."]
    plain = message_text.to_plain(message, no_arr=True, no_str=True)
    assert plain["position"] == "<sequence type: double, length: 200>"
    assert plain["header"]["frame_id"] == "<string length: <0>>"
    assert message_text.to_csv(STATE) == "3,5,base,a,b,0.1,1e-05,,"


def test_fill_converts_and_nests() -> None:
    message = Float64MultiArray()
    fill(message, parse_values("{data: [1, 2.5], layout: {dim: [{label: 3, size: 2}], data_offset: 0}}"))
    assert list(message.data) == [1.0, 2.5]
    assert message.layout.dim == [MultiArrayDimension(label="3", size=2, stride=0)]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ("{date: 1}", "no field 'date'"),
        ("{data: 1}", "'data'"),
        ("{layout: {dim: [{size: 1.5}]}}", "'layout.dim.size'"),
        ("{layout: {data_offset: x}}", "'layout.data_offset'"),
        ("[1]", "dictionary"),
        ("{", "YAML"),
    ],
)
def test_fill_names_the_field(values: str, complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        fill(Float64MultiArray(), parse_values(values))


def test_interface_show_expands_nested_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["interface", "show", "sensor_msgs/msg/JointState", "--no-comments"]) == 0
    assert capsys.readouterr().out == (
        "std_msgs/Header header\n\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n"
        "\tstring frame_id\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
    )
    assert main(["interface", "show", "explore_context_interfaces/action/Calibrate"]) == 0
    assert capsys.readouterr().out.count("---") == 2


def test_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pkg", "prefix", "explore_context"]) == 0
    prefix = Path(capsys.readouterr().out.strip())
    assert (prefix / "share" / "explore_context" / "package.xml").is_file()
    assert main(["pkg", "list"]) == 0
    assert {"rclpy", "explore_context"} <= set(capsys.readouterr().out.split())
    assert main(["pkg", "executables", "explore_context"]) == 0
    assert "explore_context pendulum_plant\n" in capsys.readouterr().out
    assert main(["interface", "list", "-a"]) == 0
    assert "    explore_context_interfaces/action/Calibrate\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["bag", "play", "x"], 2, "needs a full ROS 2"),
        (["topic", "bw"], 2, "needs a full ROS 2"),
        (["pkg", "prefix", "no_such"], 1, "Package 'no_such' not found"),
        (["run", "explore_context", "no_such"], 1, "No executable found"),
        (["run", "no_such", "x"], 1, "Package 'no_such' not found"),
        (["interface", "show", "std_msgs/msg/Nothing"], 1, "Could not find the interface"),
        (["topic", "pub", "/x", "std_msgs/msg/Nothing"], 1, "The passed message type is invalid"),
    ],
)
def test_refusals_say_why(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, complaint: str
) -> None:
    assert main(arguments) == code
    said = capsys.readouterr()
    assert complaint in said.err and said.err.count("\n") == 1 and not said.out


def test_launch_arguments() -> None:
    assert parse_launch_arguments(["a:=1", "b:=x:=y", "a:=2"]) == [("a", "2"), ("b", "x:=y")]
    for wrong in ("a", ":=1", "a:="):
        with pytest.raises(CommandError, match="malformed"):
            parse_launch_arguments([wrong])


def test_rate() -> None:
    assert rate_text([0.0, 0.1, 0.2, 0.4]).startswith("average rate: 7.500\n\tmin: 0.100s max: 0.200s")


def test_participants_of_an_unused_domain() -> None:
    assert local_participants(228) == 0


@pytest.mark.parametrize("module", ["launch", "launch_ros"])
def test_never_beside_the_real_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / module).touch()
    (index / "ros2cli").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    for command in (["-c", f"import {module}"], ["-m", "ros2_mini", "pkg", "list"]):
        result = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=60)
        assert result.returncode == 1 and str(tmp_path) in result.stderr
