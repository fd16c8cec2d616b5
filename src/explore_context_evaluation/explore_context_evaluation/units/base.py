"""What the runner knows of a unit of work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explore_context.planning import PaperPlannerSettings, PlannerSettings, RealtimePlannerSettings

Record = dict[str, NDArray[Any]]


class Unit(ABC):
    """A frozen dataclass whose fields decide its result; equal units are computed once.

    Random numbers come from ``[seed, purpose, system]``: what one unit draws does not depend on which others
    run.
    """

    @property
    def needs(self) -> tuple[Unit, ...]:
        """Units whose results ``run`` is given, in this order."""
        return ()

    @property
    def label(self) -> str:
        """Kind and numbers of the unit, short enough for a message."""
        source = self.needs[0] if self.needs else self
        names = ("system", "scheme", "transitions", "rollouts")
        words = [f"{name} {getattr(source, name)}" for name in names if hasattr(source, name)]
        model = getattr(source, "model", None)
        return f"{type(self).__name__} ({', '.join([model.name, *words] if model else words)})"

    @property
    @abstractmethod
    def cost(self) -> float:
        """About how many seconds of one core this takes: for the order of work and the time left."""

    @abstractmethod
    def run(self, inputs: list[Record]) -> Record:
        """Compute the result from the results of ``needs``."""


def candidates_per_plan(settings: PlannerSettings) -> float:
    """Candidates that one plan scores, about."""
    if isinstance(settings, PaperPlannerSettings):
        return settings.iterations * settings.candidates
    assert isinstance(settings, RealtimePlannerSettings)
    return sum(settings.candidates * settings.decay**k for k in range(settings.iterations))


def calibration_seconds(settings: PlannerSettings | None, plans: int, horizon: int) -> float:
    """Rough cost of ``plans`` searches for information: measured two microseconds per imagined step."""
    if settings is None:
        return 0.02 * plans
    return plans * (0.01 + 2e-6 * candidates_per_plan(settings) * settings.samples * horizon)


def seed_of(*parts: int) -> int:
    """One integer seed from several."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)
