"""Which nodes there are, how they fare, and what went wrong lately."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

STALE_AFTER = 3.5
"""Seconds without diagnostics, which come once a second."""

LEVELS = ("ok", "warning", "error", "stale")
_FINITE = frozenset({"lifecycle_manager"})
"""Nodes that end when their work is done; their silence is no fault."""

_MAX_FAULTS = 30


@dataclass
class NodeHealth:
    """``lifecycle`` is empty for a node without life cycle; ``heard`` in seconds of the hub's clock."""

    name: str
    level: str = "ok"
    message: str = ""
    lifecycle: str = ""
    heard: float | None = None
    values: dict[str, str] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "level": self.level,
            "message": self.message,
            "lifecycle": self.lifecycle,
            "values": self.values,
        }


class Health:
    """The nodes of one robot; every method says with true that the page has to know."""

    def __init__(self) -> None:
        self.faults: deque[dict[str, Any]] = deque(maxlen=_MAX_FAULTS)
        self._nodes: dict[str, NodeHealth] = {}

    def describe(self) -> list[dict[str, Any]]:
        return [self._nodes[name].describe() for name in sorted(self._nodes)]

    def report(self, name: str, level: int, message: str, values: dict[str, str], now: float) -> bool:
        """A diagnostic status of a node."""
        node = self._nodes.setdefault(name, NodeHealth(name))
        word = LEVELS[level] if level < len(LEVELS) else LEVELS[2]
        is_news = (word, message) != (node.level, node.message)
        if is_news and word in ("warning", "error"):
            self._note(now, word, name, message)
        changed = is_news or values != node.values
        node.level, node.message, node.values, node.heard = word, message, values, now
        return changed

    def lifecycle(self, name: str, state: str, now: float) -> bool:
        """The life-cycle state of a node; '' : it does not answer."""
        node = self._nodes.setdefault(name, NodeHealth(name))
        changed, node.lifecycle = state != node.lifecycle, state
        return changed

    def check(self, now: float) -> bool:
        """Mark nodes stale that have been silent for too long."""
        changed = False
        for node in self._nodes.values():
            if node.heard is None or now - node.heard <= STALE_AFTER or node.level in ("stale", "ended"):
                continue
            changed = True
            if node.name in _FINITE:
                node.level, node.message = "ended", "has done its work"
            else:
                node.level, node.message = "stale", "no diagnostics: has the node ended?"
                self._note(now, "stale", node.name, node.message)
        return changed

    def _note(self, now: float, level: str, name: str, message: str) -> None:
        self.faults.append({"time": round(now, 1), "level": level, "node": name, "message": message})
