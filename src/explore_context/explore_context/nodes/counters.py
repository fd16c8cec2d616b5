"""Counters for diagnostics: rejections by reason and event rates. No ROS here."""

from __future__ import annotations

from collections import Counter
from enum import Enum


class Rejections:
    """Counts what was turned away, by reason."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, reason: str | Enum) -> None:
        self._counts[str(reason.value if isinstance(reason, Enum) else reason)] += 1

    def __getitem__(self, reason: str | Enum) -> int:
        return self._counts[str(reason.value if isinstance(reason, Enum) else reason)]

    @property
    def total(self) -> int:
        return sum(self._counts.values())

    def values(self) -> dict[str, int]:
        """``{"rejected": total, "rejected.<reason>": count, ...}``, ready for a diagnostic status."""
        return {"rejected": self.total, **{f"rejected.{k}": self._counts[k] for k in sorted(self._counts)}}


class Rate:
    """Events per second between two reports."""

    def __init__(self) -> None:
        self.total = 0
        self._reported_total = 0
        self._reported_at: float | None = None

    def add(self, events: int = 1) -> None:
        self.total += events

    def report(self, now: float) -> float:
        """Events per second since the last report (0 at the first); ``now`` in seconds of a steady clock."""
        since, self._reported_at = self._reported_at, now
        events, self._reported_total = self.total - self._reported_total, self.total
        return events / (now - since) if since is not None and now > since else 0.0
