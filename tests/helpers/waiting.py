"""Wait for a condition with a deadline, never for luck."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def patience(seconds: float) -> float:
    """A deadline for an idle machine, made longer by as much as this one is overloaded at present."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def wait_until(
    condition: Callable[[], T], timeout: float = 10.0, what: str = "the condition", pause: float = 0.01
) -> T:
    """Call ``condition`` until it returns something true, and return that; AssertionError at the deadline."""
    deadline = time.monotonic() + patience(timeout)
    while True:
        if result := condition():
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what} in vain")
        time.sleep(pause)
