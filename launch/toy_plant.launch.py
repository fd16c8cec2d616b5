"""The toy system, alone on the graph; plant:=toy_outer takes the other squashing."""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    share = FindPackageShare("explore_context")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "params_file",
                default_value=PathJoinSubstitution([share, "config", "toy.yaml"]),
                description="ROS parameters of the nodes.",
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(PathJoinSubstitution([share, "launch", "plant.launch.py"])),
                launch_arguments={
                    "executable": "toy_plant",
                    "params_file": LaunchConfiguration("params_file"),
                }.items(),
            ),
        ]
    )
