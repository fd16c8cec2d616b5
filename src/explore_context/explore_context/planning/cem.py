"""The paper's cross-entropy method (supplement, algorithm 1), literally."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from explore_context.planning.plan import Floats, Objective, Plan, Planner, finite_scores
from explore_context.planning.settings import PaperPlannerSettings


class Search(Protocol):
    """The part of the algorithm that may live on a device: a Gaussian over sequences, fitted to elites."""

    @property
    def mean(self) -> Floats: ...

    def iterate(self, noise: Floats) -> None: ...


class HostSearch:
    """Sampling and refitting in numpy; mean and std are (H, U)."""

    def __init__(
        self, objective: Objective, mean: Floats, std: Floats, bounds: tuple[Floats, Floats], elites: int
    ) -> None:
        self._objective, self._bounds, self._elites = objective, bounds, elites
        self.mean, self.std = mean, std

    def iterate(self, noise: Floats) -> None:
        """Sample with ``noise`` (K, H, U), score, refit; the standard deviation is the unbiased one."""
        candidates = np.clip(self.mean + self.std * noise, *self._bounds)
        elites = candidates[elite_indices(self._objective(candidates), self._elites)]
        self.mean = elites.mean(axis=0)
        self.std = elites.std(axis=0, ddof=1) if len(elites) > 1 else np.zeros_like(self.mean)


class CrossEntropyMethod(Planner):
    """T times: sample from N(mu, sigma^2), clip, keep the elites, refit. The *mean* is executed.

    The search starts anew at every plan (mu = 0, sigma = u_max: no warm start), so ``reset`` and ``advance``
    do nothing.
    """

    def __init__(
        self,
        settings: PaperPlannerSettings,
        action_low: NDArray[np.floating],
        action_high: NDArray[np.floating],
    ) -> None:
        super().__init__(action_low, action_high)
        self.settings = settings

    @property
    def samples(self) -> int:
        return self.settings.samples

    @property
    def finalist_samples(self) -> int:
        return 0

    def draw(self, rng: np.random.Generator, n: int, dimensions: int) -> Floats:
        return rng.standard_normal((n, dimensions), dtype=np.float32)

    def plan(
        self, objective: Objective, horizon: int, rng: np.random.Generator, deadline: float | None = None
    ) -> Plan:
        started = time.monotonic()
        search = self._search(objective, horizon)
        shape = (self.settings.candidates, horizon, len(self.low))
        evaluations, pace = 0, 0.0
        for _ in range(self.settings.iterations):
            begin = time.monotonic()
            if deadline is not None and evaluations and begin + pace >= deadline:
                break
            search.iterate(rng.standard_normal(shape, dtype=np.float32))
            evaluations += self.settings.candidates
            pace = time.monotonic() - begin
        actions = np.clip(search.mean, self.low, self.high)
        score = float(finite_scores(objective(actions[None]))[0])
        finished = evaluations == self.settings.iterations * self.settings.candidates
        return Plan(actions, score, evaluations + 1, time.monotonic() - started, finished)

    def reset(self) -> None:
        """Nothing is kept from plan to plan."""

    def advance(self) -> None:
        """Nothing is kept from plan to plan."""

    def _search(self, objective: Objective, horizon: int) -> Search:
        shape = (horizon, len(self.low))
        mean, std = np.broadcast_to(self.centre, shape), np.broadcast_to(self.reach, shape)
        on_device = getattr(objective, "device_search", None)
        if on_device is not None:
            search: Search = on_device(mean, std, (self.low, self.high), self.settings.elites)
            return search
        return HostSearch(objective, mean, std, (self.low, self.high), self.settings.elites)


def elite_indices(scores: Floats, count: int) -> NDArray[np.intp]:
    """Indices of the ``count`` best finite scores (or fewer), best first, ties in order."""
    usable = finite_scores(scores)
    order = np.argsort(-usable, kind="stable")[:count]
    return order[np.isfinite(usable[order])]
