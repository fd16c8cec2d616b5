"""Events from and for ROS 2 nodes."""

from __future__ import annotations

from . import lifecycle
from .matchers import matches_node_name

__all__ = ["lifecycle", "matches_node_name"]
