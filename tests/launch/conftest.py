"""Fixtures of the tests in this folder."""

from __future__ import annotations

from tests.helpers.processes import processes
from tests.helpers.ros import graph

__all__ = ["graph", "processes"]
