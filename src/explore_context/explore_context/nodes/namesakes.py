"""Names of nodes. Two of one name, e.g. the same launch started twice, would both answer every request."""

from __future__ import annotations

from rclpy.node import Node


def full_name(node: Node, name: str) -> str:
    """``name`` as ``node`` means it: without a leading slash, in its own namespace."""
    return name if name.startswith("/") else f"{node.get_namespace().rstrip('/')}/{name}"


def namesakes(node: Node, name: str) -> int:
    """Nodes with the fully qualified ``name`` that ``node`` sees on the graph, itself included.

    Counted by the service of their parameters, which every node has: rclpy keeps the mere name of a lifecycle
    node on the graph after the node is destroyed."""
    return int(node.count_services(f"{name}/get_parameters"))
