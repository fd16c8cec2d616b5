"""What a calibration has visited so far, in the terms of each system: quadrants, terrain, state plane."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from explore_context.dashboard.series import number
from explore_context.plants.base import Array
from explore_context.plants.mountain_car import DT, GRAVITY, MAX_BUMPS, WALL, terrain
from explore_context.plants.pendulum import quadrant

_TERRAIN_POINTS = 81
_BINS = 40
_STEEPEST = 0.95  # beyond a slope of 1 gravity pulls less along the horizontal again: the slope is ambiguous


class Coverage(Protocol):
    """Fed with every transition that entered the belief: x (X,), u (U,), x+ (X,)."""

    def add(self, state: Array, action: Array, following: Array) -> None: ...

    def describe(self) -> dict[str, Any]: ...


class QuadrantCoverage:
    """Pendulum: transitions that began or ended in each of the four quadrants."""

    def __init__(self) -> None:
        self._counts = [0, 0, 0, 0]

    def add(self, state: Array, action: Array, following: Array) -> None:
        angles = np.arctan2([state[1], following[1]], [state[0], following[0]])
        for index in set(quadrant(angles).tolist()):
            self._counts[index] += 1

    def describe(self) -> dict[str, Any]:
        return {"quadrants": list(self._counts)}


class TerrainCoverage:
    """Mountain car: the interval that was visited, and the terrain as the accelerations in it tell.

    The slope s follows from one transition's acceleration a, neglecting friction:
    a = u / sqrt(1 + s^2) - g s / (1 + s^2). Averaged in bins and integrated, slopes give the profile.
    """

    def __init__(self) -> None:
        self._low, self._high = np.inf, -np.inf
        self._slopes = np.zeros(_BINS)
        self._counts = np.zeros(_BINS)

    def add(self, state: Array, action: Array, following: Array) -> None:
        self._low = min(self._low, state[0], following[0])
        self._high = max(self._high, state[0], following[0])
        if abs(following[0]) < WALL:
            index = min(int((0.5 * (state[0] + following[0]) + WALL) / (2 * WALL) * _BINS), _BINS - 1)
            self._slopes[index] += _slope((following[1] - state[1]) / DT, float(action[0]))
            self._counts[index] += 1

    def describe(self) -> dict[str, Any]:
        if self._low > self._high:
            return {"interval": None, "profile": []}
        return {"interval": [number(self._low), number(self._high)], "profile": self._profile()}

    def _profile(self) -> list[list[float | None]]:
        visited = np.flatnonzero(self._counts)
        if not visited.size:
            return []
        centres = (np.arange(_BINS) + 0.5) / _BINS * 2 * WALL - WALL
        slopes = np.interp(centres, centres[visited], self._slopes[visited] / self._counts[visited])
        inside = slice(visited[0], visited[-1] + 1)
        heights = np.cumsum(slopes[inside]) * (2 * WALL / _BINS)
        return [[number(x), number(h)] for x, h in zip(centres[inside], heights, strict=True)]


class PlaneCoverage:
    """Any other system: only how much was seen, the page draws the states themselves."""

    def __init__(self) -> None:
        self._transitions = 0

    def add(self, state: Array, action: Array, following: Array) -> None:
        self._transitions += 1

    def describe(self) -> dict[str, Any]:
        return {"transitions": self._transitions}


def coverage_of(plant: str) -> Coverage:
    if plant == "pendulum":
        return QuadrantCoverage()
    return TerrainCoverage() if plant == "mountain_car" else PlaneCoverage()


def true_terrain(context: list[float]) -> list[list[float | None]]:
    """Points (x, height) of the real profile, for a plant that shows its hidden context."""
    if len(context) != 3 * MAX_BUMPS:
        return []
    x = np.linspace(-WALL, WALL, _TERRAIN_POINTS)
    height, _ = terrain(x[None], np.array([context]))
    return [[number(a), number(b)] for a, b in zip(x, height[0], strict=True)]


def _slope(acceleration: float, motor: float) -> float:
    """Solve for the slope by Newton's method; steep slopes are cut off."""
    s = 0.0
    for _ in range(8):
        square = 1.0 + s * s
        error = motor / np.sqrt(square) - GRAVITY * s / square - acceleration
        gradient = -motor * s / square**1.5 - GRAVITY * (1.0 - s * s) / square**2
        s = float(np.clip(s - error / min(gradient, -0.5), -_STEEPEST, _STEEPEST))
    return s
