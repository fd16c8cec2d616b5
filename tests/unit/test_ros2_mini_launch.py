"""ros2_mini's launch and launch_ros without processes: values, conditions, scopes, arguments, parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ros2_mini", reason="a full ROS 2 is in use")

from launch import InvalidLaunchFileError, LaunchContext, LaunchDescription, LaunchService
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
    TimerAction,
)
from launch.conditions import IfCondition, InvalidConditionExpressionError, UnlessCondition
from launch.launch_description_sources import (
    PythonLaunchDescriptionSource,
    get_launch_description_from_any_launch_file,
)
from launch.substitutions import (
    AndSubstitution,
    EnvironmentVariable,
    EqualsSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
    PathJoinSubstitution,
    PythonExpression,
    SubstitutionFailure,
    TextSubstitution,
    ThisLaunchFileDir,
)
from launch_ros.actions import Node, PushRosNamespace, SetParameter
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.utilities import evaluate_parameters, prefix_namespace


@pytest.fixture
def context() -> LaunchContext:
    context = LaunchContext()
    context.launch_configurations.update(plant="pendulum", seed="7", flag="true", empty="")
    return context


def run(*entities: Any) -> int:
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription(list(entities)))
    return service.run()


@pytest.mark.parametrize(
    ("substitution", "expected"),
    [
        (TextSubstitution(text="a"), "a"),
        (LaunchConfiguration("plant"), "pendulum"),
        (LaunchConfiguration("none", default="x"), "x"),
        (LaunchConfiguration(["pl", TextSubstitution(text="ant")]), "pendulum"),
        (EnvironmentVariable("NO_SUCH_VARIABLE", default_value="d"), "d"),
        (PathJoinSubstitution(["a", [LaunchConfiguration("plant"), ".yaml"]]), "a/pendulum.yaml"),
        (PythonExpression(["2 * ", LaunchConfiguration("seed")]), "14"),
        (PythonExpression(["'", LaunchConfiguration("plant"), "' == 'pendulum'"]), "True"),
        (PythonExpression("floor(pi) + math.floor(1.5)"), "4"),
        (EqualsSubstitution(LaunchConfiguration("plant"), "pendulum"), "true"),
        (EqualsSubstitution(LaunchConfiguration("flag"), True), "true"),
        (EqualsSubstitution(LaunchConfiguration("seed"), 7.0), "true"),
        (NotEqualsSubstitution(LaunchConfiguration("plant"), ""), "true"),
        (NotSubstitution(LaunchConfiguration("flag")), "false"),
        (AndSubstitution(LaunchConfiguration("flag"), "false"), "false"),
        (OrSubstitution(LaunchConfiguration("flag"), "false"), "true"),
    ],
)
def test_substitution(context: LaunchContext, substitution: Any, expected: str) -> None:
    assert substitution.perform(context) == expected


@pytest.mark.parametrize(
    "substitution",
    [
        LaunchConfiguration("none"),
        EnvironmentVariable("NO_SUCH_VARIABLE"),
        PythonExpression("1 +"),
        ThisLaunchFileDir(),
        NotSubstitution("maybe"),
    ],
)
def test_substitution_that_fails(context: LaunchContext, substitution: Any) -> None:
    with pytest.raises(SubstitutionFailure):
        substitution.perform(context)


def test_conditions(context: LaunchContext) -> None:
    assert IfCondition(LaunchConfiguration("flag")).evaluate(context)
    assert IfCondition(" True ").evaluate(context) and not IfCondition("0").evaluate(context)
    assert UnlessCondition("false").evaluate(context)
    with pytest.raises(InvalidConditionExpressionError):
        IfCondition("perhaps").evaluate(context)


def test_group_keeps_configurations_and_environment_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOUR", "red")
    seen: list[tuple[str, str]] = []

    def note(context: LaunchContext) -> None:
        seen.append((context.launch_configurations["x"], EnvironmentVariable("COLOUR").perform(context)))

    inside = [SetLaunchConfiguration("x", "in"), SetEnvironmentVariable("COLOUR", "blue")]
    assert (
        run(
            SetLaunchConfiguration("x", "out"),
            GroupAction([*inside, OpaqueFunction(function=note)]),
            OpaqueFunction(function=note),
            GroupAction([SetLaunchConfiguration("x", "kept"), OpaqueFunction(function=note)], scoped=False),
            OpaqueFunction(function=note),
            GroupAction(
                [OpaqueFunction(function=note)], forwarding=False, launch_configurations={"x": "only"}
            ),
        )
        == 0
    )
    assert seen == [("in", "blue"), ("out", "red"), ("kept", "red"), ("kept", "red"), ("only", "red")]


def test_include_passes_arguments_and_knows_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inner.launch.py").write_text(
        "from launch import LaunchDescription\n"
        "from launch.actions import DeclareLaunchArgument, SetLaunchConfiguration\n"
        "from launch.substitutions import LaunchConfiguration, ThisLaunchFileDir\n"
        "def generate_launch_description():\n"
        "    return LaunchDescription([\n"
        "        DeclareLaunchArgument('size'), DeclareLaunchArgument('unit', default_value='m'),\n"
        "        SetLaunchConfiguration('said', [LaunchConfiguration('size'), "
        "LaunchConfiguration('unit')]),\n"
        "        SetLaunchConfiguration('folder', ThisLaunchFileDir())])\n"
    )
    source = PythonLaunchDescriptionSource(PathJoinSubstitution([str(tmp_path), "sub", "inner.launch.py"]))
    seen: dict[str, str] = {}
    include = IncludeLaunchDescription(source, launch_arguments={"size": "3"}.items())
    assert (
        run(include, OpaqueFunction(function=lambda context: seen.update(context.launch_configurations))) == 0
    )
    assert seen["said"] == "3m" and seen["folder"] == str(tmp_path / "sub")
    # a required argument that is missing, and one that a choice forbids
    assert run(IncludeLaunchDescription(source)) == 1
    bad = DeclareLaunchArgument(
        "mode", default_value=LaunchConfiguration("size", default="c"), choices=["a", "b"]
    )
    assert run(bad) == 1


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("from launch.actions import ReadEveryMind", "ReadEveryMind"),
        ("from launch_ros.actions import ComposableNodeContainer", "ComposableNodeContainer"),
        ("import launch_testing_of_tomorrow", "launch_testing_of_tomorrow"),
        ("import launch.actions; launch.actions.ReadEveryMind()", "ReadEveryMind"),
    ],
)
def test_a_missing_part_of_launch_is_named_with_what_to_do(tmp_path: Path, line: str, missing: str) -> None:
    file = tmp_path / "x.launch.py"
    file.write_text(f"{line}\n")
    with pytest.raises(
        InvalidLaunchFileError, match=rf"{missing}.* needs a full ROS 2 \(x.launch.py, line 1\)"
    ):
        get_launch_description_from_any_launch_file(str(file))


def test_other_errors_of_a_launch_file_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "x.launch.py"
    file.write_text("import of_my_own\n")
    with pytest.raises(InvalidLaunchFileError) as caught:
        get_launch_description_from_any_launch_file(str(file))
    assert "of_my_own" in str(caught.value) and "full ROS 2" not in str(caught.value)


def test_declared_arguments_are_found_everywhere() -> None:
    description = LaunchDescription(
        [
            DeclareLaunchArgument("first", default_value="1"),
            GroupAction([DeclareLaunchArgument("second")], condition=IfCondition("true")),
            TimerAction(period=1.0, actions=[DeclareLaunchArgument("third", default_value="")]),
        ]
    )
    found = {
        argument.name: argument._conditionally_included for argument in description.get_launch_arguments()
    }
    assert found == {"first": False, "second": True, "third": True}


def test_types_of_arguments_are_checked_as_in_launch() -> None:
    with pytest.raises(TypeError):
        TimerAction(period=5, actions=[])
    with pytest.raises(TypeError):
        ParameterValue(1, value_type=float)
    with pytest.raises(RuntimeError, match="choices"):
        DeclareLaunchArgument("mode", default_value="c", choices=["a", "b"])
    with pytest.raises(TypeError):
        Node(package="p", executable="e", parameters="no list")


def test_parameters_keep_the_types_of_launch_ros(context: LaunchContext, tmp_path: Path) -> None:
    given = {
        "text": "7",
        "whole": LaunchConfiguration("seed"),
        "flag": LaunchConfiguration("flag"),
        "word": ParameterValue(LaunchConfiguration("seed"), value_type=str),
        "real": ParameterValue(LaunchConfiguration("seed"), value_type=float),
        "list": ParameterValue(TextSubstitution(text="[1.5, 2.0]"), value_type=list[float]),
        "mixed": [1, 2.5],
        "joined": ["a_", LaunchConfiguration("plant")],
        "empty": LaunchConfiguration("empty"),
        "nested": {"inner": {"x": 1}},
        ("key_", LaunchConfiguration("plant")): True,
    }
    (values,) = evaluate_parameters(context, [given])
    assert values == {
        "text": "7",
        "whole": 7,
        "flag": True,
        "word": "7",
        "real": 7.0,
        "list": [1.5, 2.0],
        "mixed": [1.0, 2.5],
        "joined": "a_pendulum",
        "empty": "",
        "nested.inner.x": 1,
        "key_pendulum": True,
    }
    assert isinstance(values, dict) and type(values["mixed"][0]) is float
    wrongs: list[dict[str, Any]] = [
        {"a": []},
        {"a": [1, "b"]},
        {"a": None},
        {"a": TextSubstitution(text="{x: 1}")},
    ]
    for wrong in wrongs:
        with pytest.raises(TypeError, match="'a'"):
            evaluate_parameters(context, [wrong])


def test_parameter_file_with_substitutions(context: LaunchContext, tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text("/**:\n  ros__parameters:\n    plant: $(var plant)\n    n: $(var count 3)  # comment\n")
    plain, substituted = evaluate_parameters(
        context, [ParameterFile(file), ParameterFile(file, allow_substs=True)]
    )
    assert plain == file
    assert isinstance(substituted, Path)
    assert "plant: pendulum" in substituted.read_text() and "n: 3" in substituted.read_text()


@pytest.mark.parametrize(
    ("base", "namespace", "expected"),
    [
        (None, None, None),
        (None, "", "/"),
        (None, "a", "/a"),
        ("/a", None, "/a"),
        ("/a", "b", "/a/b"),
        ("/a", "/b", "/b"),
        ("/a", "", "/a"),
        ("/", "b", "/b"),
    ],
)
def test_namespaces(base: str | None, namespace: str | None, expected: str | None) -> None:
    assert prefix_namespace(base, namespace) == expected


def test_set_parameter_and_namespace_end_with_their_group() -> None:
    seen: list[dict[str, Any]] = []
    note = OpaqueFunction(function=lambda context: seen.append(dict(context.launch_configurations)))
    again = OpaqueFunction(function=lambda context: seen.append(dict(context.launch_configurations)))
    group = GroupAction([PushRosNamespace("robot"), SetParameter("use_sim_time", True), note])
    assert run(SetParameter("a", 1), group, again) == 0
    assert seen[0]["ros_namespace"] == "/robot" and seen[0]["global_params"] == [
        ("a", 1),
        ("use_sim_time", True),
    ]
    assert "ros_namespace" not in seen[1] and seen[1]["global_params"] == [("a", 1)]
