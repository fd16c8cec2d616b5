"""What a bad network and a bad sensor do to messages, with a seed. No ROS here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

M = TypeVar("M")


@dataclass(frozen=True)
class FaultSettings:
    """Probabilities per message, each drawn on its own; ``delay`` seconds at most, for messages that are
    delayed."""

    drop: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    corrupt: float = 0.0
    delay_probability: float = 0.0
    delay: float = 0.0


class FaultInjector(Generic[M]):
    """Turns one message into what arrives: pairs (seconds to wait, message), none if it is lost.

    A reordered message is kept until the next one has passed, and then follows it.
    """

    def __init__(
        self,
        settings: FaultSettings,
        rng: np.random.Generator,
        corrupt: Callable[[M, np.random.Generator], M],
    ) -> None:
        self.settings = settings
        self._rng = rng
        self._corrupt = corrupt
        self._kept: list[M] = []

    def __call__(self, message: M) -> list[tuple[float, M]]:
        settings = self.settings
        # Five draws for every message, whatever happens to it: one probability does not change another's
        # outcome.
        drop, duplicate, reorder, corrupt, late = self._rng.random(5) < [
            settings.drop,
            settings.duplicate,
            settings.reorder,
            settings.corrupt,
            settings.delay_probability,
        ]
        delay = float(self._rng.uniform(0.0, settings.delay)) if late else 0.0
        if drop:
            return []
        if corrupt:
            message = self._corrupt(message, self._rng)
        if reorder and not self._kept:
            self._kept.append(message)
            return []
        arriving = [message, message] if duplicate else [message]
        arriving += self._kept
        self._kept = []
        return [(delay, each) for each in arriving]


def corrupt_vector(values: list[float], rng: np.random.Generator) -> list[float]:
    """One of: NaN or infinity in one place, one entry too many, one too few."""
    kind = rng.choice(["nan", "inf", "longer", "shorter"])
    if kind == "longer" or not values:
        return [*values, 0.0]
    if kind == "shorter":
        return values[:-1] if len(values) > 1 else [*values, 0.0]
    spoiled = list(values)
    spoiled[int(rng.integers(len(values)))] = float("nan") if kind == "nan" else float("inf")
    return spoiled
