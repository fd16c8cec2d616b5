"""Actions for ROS 2."""

from __future__ import annotations

from .node import Node
from .scopes import PushRosNamespace, SetParameter, SetRemap

PushROSNamespace = PushRosNamespace

__all__ = [
    "Node",
    "PushROSNamespace",
    "PushRosNamespace",
    "SetParameter",
    "SetRemap",
]
