"""Plant, calibrator and lifecycle manager with the arguments that all plants share, and on demand swing-up
controller, dashboard and recorder; the files <plant>_calibration.launch.py and pendulum_swing_up.launch.py
include it."""

from __future__ import annotations

import os
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# Arguments that are parameters of the nodes, with their types; left empty, the parameter file decides.
PARAMETERS = {
    "model": (str, "Folder or name of the learned model."),
    "scheme": (str, "Exploration: random, open_loop or mpc."),
    "planner": (str, "Planner configuration: paper, realtime or the path of a YAML file."),
    "seed": (int, "Seed of the plant's hidden context and of all planning."),
    "transitions": (int, "Transitions per rollout."),
    "rollouts": (int, "Rollouts, each from an initial state."),
    "prior_bag": (str, "Recording of the same system that the belief starts with."),
}
CONTROLLER_PARAMETERS = ("model", "seed")
LOG_LEVELS = ("debug", "info", "warn", "error", "fatal")

# Of this launch, with default and meaning.
SWITCHES = {
    "namespace": ("", "Namespace of this robot."),
    "use_sim_time": ("false", "Take the time from /clock."),
    "autostart": ("true", "Bring the nodes up and start the calibration."),
    "exit_when_done": ("false", "End everything, with a summary, when the work is done."),
    "log_level": ("info", "Lowest level to log."),
    "swing_up": ("false", "Swing the pendulum up after the calibration."),
    "swing_up_planner": ("", "Planner configuration of the swing-up. Empty: as params_file says."),
    "dashboard": ("false", "Show everything live in the browser."),
    "dashboard_port": ("8765", "Port of the dashboard."),
    "dashboard_control": ("false", "Let the dashboard start calibrations and reset plants."),
    "record": ("false", "Record the run (MCAP)."),
    "record_path": ("", "File or folder of the recording; empty: the current folder."),
    "spectators": ("", "Nodes of yours, separated by commas: start when each has said so on <name>/ready."),
}


def flag(name: str, context: LaunchContext) -> bool:
    text = LaunchConfiguration(name).perform(context).lower()
    if text not in ("true", "false", "1", "0"):
        raise ValueError(f"{name}:={text} is neither true nor false")
    return text in ("true", "1")


def spectators(context: LaunchContext) -> list[str]:
    """Whom the calibration waits for, because they want to see all of it."""
    names = [name.strip() for name in LaunchConfiguration("spectators").perform(context).split(",")]
    return [*filter(None, names), *(["recorder"] if flag("record", context) else [])]


def node(executable: str, name: str, parameters: dict[str, Any], **options: Any) -> Node:
    use_sim_time = ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)
    return Node(
        package="explore_context",
        executable=executable,
        name=name,
        namespace=LaunchConfiguration("namespace"),
        parameters=[LaunchConfiguration("params_file"), {"use_sim_time": use_sim_time, **parameters}],
        arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
        output="screen",
        emulate_tty=True,
        **options,
    )


def actions(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """The nodes that these arguments ask for."""
    texts = {name: LaunchConfiguration(name).perform(context) for name in PARAMETERS}
    given: dict[str, Any] = {name: PARAMETERS[name][0](text) for name, text in texts.items() if text}
    swing_up = flag("swing_up", context)
    managed = {"calibrator": node("calibrator", "calibrator", given)}
    if swing_up:
        own = {name: value for name, value in given.items() if name in CONTROLLER_PARAMETERS}
        if planner := LaunchConfiguration("swing_up_planner").perform(context):
            own["planner"] = planner
        managed["swing_up_controller"] = node("swing_up_controller", "swing_up_controller", own)
    found: list[LaunchDescriptionEntity] = [*managed.values()]
    if flag("dashboard", context):
        port = int(LaunchConfiguration("dashboard_port").perform(context))
        control = flag("dashboard_control", context)
        found.append(node("dashboard", "dashboard", {"port": port, "control": control}))
    if flag("record", context):
        path = LaunchConfiguration("record_path").perform(context)
        found.append(node("recorder", "recorder", {"path": path}))
    if flag("autostart", context):
        settings = {"nodes": [*managed], "calibrate": True, "wait_for_return": swing_up}
        if names := spectators(context):  # an empty list has no type for ROS
            settings["spectators"] = names
        manager = node("lifecycle_manager", "lifecycle_manager", settings)
        found += [manager, RegisterEventHandler(OnProcessExit(target_action=manager, on_exit=manager_ended))]
        found += [
            RegisterEventHandler(OnProcessExit(target_action=each, on_exit=managed_ended))
            for each in managed.values()
        ]
    return found


def check(context: LaunchContext) -> None:
    """Refuse wrong arguments before any process runs: an exception makes launch forget, not end, the
    processes that the same description has started already."""
    actions(context)
    flag("exit_when_done", context)
    path = LaunchConfiguration("params_file").perform(context)
    if not os.path.isfile(path):
        raise ValueError(f"params_file:={path} is not a file")  # launch itself would go on without it
    level = LaunchConfiguration("log_level").perform(context)
    if level.lower() not in LOG_LEVELS:
        raise ValueError(f"log_level:={level} is not one of {', '.join(LOG_LEVELS)}")


def managed_ended(event: Any, context: LaunchContext) -> None:
    """A node that dies before it is brought up would only be missed when the manager's patience ends."""
    if not context.is_shutdown and flag("exit_when_done", context) and event.returncode != 0:
        raise RuntimeError(f"{event.process_name} ended with exit code {event.returncode}; its log says why")


def manager_ended(event: Any, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
    """End with the manager if that is wanted; with an error if it failed, and not because all ends anyway."""
    if context.is_shutdown or not flag("exit_when_done", context):
        return None
    if event.returncode != 0:
        # An exception, because launch forgets the exit codes of its processes.
        raise RuntimeError("the calibration failed; the log above says why")
    return [Shutdown(reason="calibration done")]


def generate_launch_description() -> LaunchDescription:
    share = FindPackageShare("explore_context")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "params_file",
                default_value=PathJoinSubstitution([share, "config", "pendulum.yaml"]),
                description="ROS parameters of the nodes.",
            ),
            *(
                DeclareLaunchArgument(name, default_value=default, description=text)
                for name, (default, text) in SWITCHES.items()
            ),
            *(
                DeclareLaunchArgument(
                    name, default_value="", description=f"{text} Empty: as params_file says."
                )
                for name, (_, text) in PARAMETERS.items()
            ),
            OpaqueFunction(function=check),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(PathJoinSubstitution([share, "launch", "plant.launch.py"]))
            ),
            OpaqueFunction(function=actions),
        ]
    )
