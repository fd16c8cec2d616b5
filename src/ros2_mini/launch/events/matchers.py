"""Matchers that select actions for targeted events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def matches_action(target_action: Any) -> Callable[[Any], bool]:
    """Matcher of exactly one action."""
    return lambda action: action is target_action
