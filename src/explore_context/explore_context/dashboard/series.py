"""Values for the page: rounded, finite, and sent only once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

Row = list[float | None]


def number(value: Any, digits: int = 5) -> float | None:
    """A float of few digits, for a small message; JSON knows no NaN and no infinity, so these become None."""
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def numbers(values: Iterable[Any], digits: int = 5) -> Row:
    return [number(value, digits) for value in values]


class Series:
    """Rows of a chart. The page gets all of them once, and from then on only what is new."""

    def __init__(self, limit: int = 2000) -> None:
        self._limit = limit
        self._rows: list[Row] = []
        self._new: list[Row] = []
        self._restarted = False

    @property
    def rows(self) -> list[Row]:
        return self._rows

    def add(self, *values: Any) -> None:
        row = numbers(values)
        self._rows.append(row)
        if len(self._rows) > self._limit:
            # The page drops its oldest rows by the same rule.
            del self._rows[: len(self._rows) - self._limit]
        self._new.append(row)

    def clear(self) -> None:
        if self._rows:
            self._rows, self._new, self._restarted = [], [], True

    def snapshot(self) -> dict[str, Any]:
        return {"set": self._rows, "limit": self._limit}

    def take_changes(self) -> dict[str, Any] | None:
        """What is new since the last call; None if nothing is."""
        new, restarted = self._new, self._restarted
        self._new, self._restarted = [], False
        if restarted:
            return self.snapshot()
        return {"add": new} if new else None
