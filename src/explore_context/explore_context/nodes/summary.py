"""What a calibration did, in words: where it went, what it learned, how long it thought. No ROS here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explore_context.nodes.samples import Array
from explore_context.plants import get_plant
from explore_context.plants.pendulum import quadrant


class Coverage:
    """The part of a system that its states have visited."""

    def __init__(self, plant: str) -> None:
        self._plant = plant
        self._quadrants: set[int] = set()
        self._low: Array | None = None
        self._high: Array | None = None

    @property
    def quadrants(self) -> frozenset[int]:
        return frozenset(self._quadrants)

    def add(self, observation: Array) -> None:
        """One state, (X,)."""
        if self._plant == "pendulum":
            self._quadrants.add(int(quadrant(np.arctan2(observation[1], observation[0]))))
        self._low = observation if self._low is None else np.minimum(self._low, observation)
        self._high = observation if self._high is None else np.maximum(self._high, observation)

    def line(self) -> tuple[str, str]:
        """What is counted, and how much of it."""
        if self._low is None or self._high is None:
            return "covered", "no states seen"
        if self._plant == "pendulum":
            return "quadrants covered", f"{len(self._quadrants)} of 4"
        low, high = float(self._low[0]), float(self._high[0])
        if self._plant == "mountain_car":
            spec = get_plant("mountain_car").spec
            share = (high - low) / (spec.observation_high[0] - spec.observation_low[0])
            return "terrain covered", f"{share:.0%}, from {low:.2f} to {high:.2f}"
        return "states covered", f"{low:.3g} to {high:.3g}"


@dataclass(frozen=True)
class CalibrationFacts:
    """The result of a calibration as its client knows it; times in seconds, entropies in nats."""

    plant: str
    success: bool
    message: str
    initial_entropy: float
    entropy: float
    transitions: int
    rollouts: int
    planning_time_median: float
    planning_time_max: float
    missed_deadlines: int
    rejected_messages: int
    duration: float


def summary(
    facts: CalibrationFacts, coverage: Coverage, swing_up: tuple[float, bool] | None = None
) -> list[str]:
    """Lines for a human; ``swing_up``: return, and whether the pendulum was upright at the end."""
    outcome = "complete" if facts.success else f"failed: {facts.message}"
    rollouts = "1 rollout" if facts.rollouts == 1 else f"{facts.rollouts} rollouts"
    rows = [
        (
            "entropy",
            f"{facts.initial_entropy:.2f} -> {facts.entropy:.2f} nat "
            f"({facts.initial_entropy - facts.entropy:.2f} nat gained)",
        ),
        ("transitions used", f"{facts.transitions} in {rollouts}, {facts.duration:.1f} s"),
        coverage.line(),
        (
            "planning time",
            f"median {_milliseconds(facts.planning_time_median)}, "
            f"longest {_milliseconds(facts.planning_time_max)}, "
            f"{facts.missed_deadlines} deadlines missed",
        ),
        ("messages rejected", str(facts.rejected_messages)),
    ]
    if swing_up is not None:
        total, is_upright = swing_up
        rows.append(
            ("swing-up return", f"{total:.1f}, {'upright' if is_upright else 'not upright'} at the end")
        )
    return [f"calibration of {facts.plant} {outcome}", *_table(rows)]


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"  {name:<{width}}  {text}" for name, text in rows]


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"
