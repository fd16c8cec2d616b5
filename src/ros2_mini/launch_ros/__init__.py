"""Stand-in for ROS 2 ``launch_ros``: the part of its API that this project's launch files use."""

from __future__ import annotations

from ros2_mini.guard import refuse_beside_real

refuse_beside_real("launch_ros")

from . import actions, descriptions, substitutions  # noqa: E402

__all__ = ["actions", "descriptions", "substitutions"]
