"""Matchers that select nodes for targeted events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def matches_node_name(node_name: str) -> Callable[[Any], bool]:
    """Matcher of the node with a fully qualified name."""
    full_name = node_name if node_name.startswith("/") else f"/{node_name}"
    return lambda action: action.node_name == full_name
