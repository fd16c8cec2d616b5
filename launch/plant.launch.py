"""A plant with the arguments that all plants share: simulated, or a robot behind the joint bridge, or none
because it runs already. The files <plant>_plant.launch.py and calibration.launch.py include it."""

from __future__ import annotations

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def floats(text: str) -> list[float]:
    return [float(entry) for entry in yaml.safe_load(text)]


# Node parameters that are launch arguments too, with their types; left empty, the parameter file decides.
PARAMETERS = {
    "plant": (str, "Registered name of the family of systems."),
    "mode": (str, "lockstep: advance with every action; realtime: advance on a timer."),
    "seed": (int, "Seed of hidden context, initial states and noise."),
    "hidden_context": (floats, 'Hidden parameters, e.g. "[1, 1, 1, 1]".'),
    "initial_state_mode": (str, "calibration or training."),
    "watchdog_time": (float, "Seconds of silence until the command is taken away."),
    "publish_hidden_context": (yaml.safe_load, "Show the true hidden context on plant_info."),
}
# Those that a robot has too; the seed is also the planners', so it may be given and means nothing to a robot.
ROBOT_PARAMETERS = ("plant", "watchdog_time")


def plant_node(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """The node, with those arguments that were given."""
    texts = {name: LaunchConfiguration(name).perform(context) for name in PARAMETERS}
    given = {name: PARAMETERS[name][0](text) for name, text in texts.items() if text}
    robot = LaunchConfiguration("robot").perform(context)
    executable = LaunchConfiguration("executable").perform(context)
    if robot != "simulated":
        allowed = ROBOT_PARAMETERS if robot == "joint_bridge" else ()
        if foreign := [name for name in given if name not in (*allowed, "seed")]:
            raise ValueError(f"{foreign[0]} is an argument of simulated plants, not of robot:={robot}")
        given.pop("seed", None)
        executable = "joint_bridge"
    if robot == "none":
        return []
    use_sim_time = ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)
    node = Node(
        package="explore_context",
        executable=executable,
        name="plant",
        namespace=LaunchConfiguration("namespace"),
        parameters=[LaunchConfiguration("params_file"), {"use_sim_time": use_sim_time, **given}],
        remappings=[("commands", LaunchConfiguration("commands"))],
        arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
        output="screen",
        emulate_tty=True,
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    default_file = PathJoinSubstitution([FindPackageShare("explore_context"), "config", "pendulum.yaml"])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "executable",
                default_value="pendulum_plant",
                description="Simulated plant to run.",
                choices=["toy_plant", "pendulum_plant", "mountain_car_plant"],
            ),
            DeclareLaunchArgument(
                "robot",
                default_value="simulated",
                description="simulated; joint_bridge: a robot under ros2_control; none: it runs already.",
                choices=["simulated", "joint_bridge", "none"],
            ),
            DeclareLaunchArgument(
                "commands", default_value="commands", description="Topic that the joint bridge commands."
            ),
            DeclareLaunchArgument("namespace", default_value="", description="Namespace of this robot."),
            DeclareLaunchArgument(
                "use_sim_time", default_value="false", description="Take the time from /clock."
            ),
            DeclareLaunchArgument(
                "params_file", default_value=default_file, description="ROS parameters of the nodes."
            ),
            DeclareLaunchArgument("log_level", default_value="info", description="Lowest level to log."),
            *(
                DeclareLaunchArgument(
                    name, default_value="", description=f"{text} Empty: as params_file says."
                )
                for name, (_, text) in PARAMETERS.items()
            ),
            OpaqueFunction(function=plant_node),
        ]
    )
