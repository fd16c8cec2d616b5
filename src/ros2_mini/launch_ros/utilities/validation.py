"""Names of nodes and namespaces, checked without the cost of importing rclpy."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def validate_node_name(name: str) -> None:
    """Raise ValueError unless ``name`` may be the name of a node."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"Invalid node name '{name}': only letters, digits and '_', not beginning with a digit"
        )


def validate_namespace(namespace: str) -> None:
    """Raise ValueError unless ``namespace`` is a valid absolute namespace."""
    valid = namespace == "/" or (
        namespace.startswith("/") and all(_NAME.fullmatch(token) for token in namespace[1:].split("/"))
    )
    if not valid:
        raise ValueError(
            f"Invalid namespace '{namespace}': tokens of letters, digits and '_' with '/' between them"
        )
