"""Actions for ROS 2."""

from __future__ import annotations

from .lifecycle_node import LifecycleNode
from .lifecycle_transition import LifecycleTransition
from .node import Node
from .scopes import PushRosNamespace, SetParameter, SetRemap

PushROSNamespace = PushRosNamespace

__all__ = [
    "LifecycleNode",
    "LifecycleTransition",
    "Node",
    "PushROSNamespace",
    "PushRosNamespace",
    "SetParameter",
    "SetRemap",
]
