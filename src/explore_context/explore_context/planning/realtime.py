"""The real-time planner: the paper's search for a hundredth of the work.

Beyond the cross-entropy method: a shifted warm start, smooth noise, small populations around the best few
sequences instead of one Gaussian, stretches set to a bound (informative actions are mostly extreme), kept
sequences, the best candidate executed instead of the mean, hand-written candidates and swings under the
model (``swings.py``), a first action that prepares for reacting to what will be seen (``ways.py``), few but
well spread context samples with the finalists compared under more of them, and a deadline.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from explore_context.planning.cem import elite_indices
from explore_context.planning.plan import Floats, Objective, Plan, Planner, PlanningError, finite_scores
from explore_context.planning.sampling import antithetic_orthogonal, primitives, smooth_noise, with_stretch
from explore_context.planning.settings import RealtimePlannerSettings
from explore_context.planning.ways import Outlook

# Of the standard deviation around parents, per iteration.
_COOLING = 0.7
# Of the time of a plan, for ways to act.
_WAYS_SHARE = 0.5


class RealtimePlanner(Planner):
    """Keeps the elites (E, H, U) of the last search, best first, for the next one."""

    def __init__(
        self,
        settings: RealtimePlannerSettings,
        action_low: NDArray[np.floating],
        action_high: NDArray[np.floating],
    ) -> None:
        super().__init__(action_low, action_high)
        self.settings = settings
        self._elites: Floats | None = None

    @property
    def samples(self) -> int:
        return self.settings.samples

    @property
    def finalist_samples(self) -> int:
        return self.settings.finalist_samples

    def draw(self, rng: np.random.Generator, n: int, dimensions: int) -> Floats:
        return antithetic_orthogonal(rng, n, dimensions)

    def reset(self) -> None:
        self._elites = None

    def advance(self) -> None:
        if self._elites is not None:
            self._elites = np.concatenate([self._elites[:, 1:], self._elites[:, -1:]], axis=1)

    def plan(
        self, objective: Objective, horizon: int, rng: np.random.Generator, deadline: float | None = None
    ) -> Plan:
        search = _Search(self, objective, horizon, rng, deadline)
        search.look_ahead()
        search.run(None if self._elites is None else of_length(self._elites, horizon))
        actions, score = search.decide()
        self._elites = search.elites
        seconds = time.monotonic() - search.started
        return Plan(actions, score, search.evaluations, seconds, search.finished)


def of_length(sequences: Floats, horizon: int) -> Floats:
    """Cut sequences (E, H, U) to ``horizon`` steps, or lengthen them with their last action."""
    missing = horizon - sequences.shape[1]
    if missing <= 0:
        return sequences[:, :horizon]
    return np.concatenate([sequences, np.repeat(sequences[:, -1:], missing, axis=1)], axis=1)


class _Search:
    """One plan. ``elites`` (E, H, U) and their scores are always sorted, best first."""

    def __init__(
        self,
        planner: RealtimePlanner,
        objective: Objective,
        horizon: int,
        rng: np.random.Generator,
        deadline: float | None,
    ) -> None:
        self.started = time.monotonic()
        self._planner, self._settings = planner, planner.settings
        self._objective, self._rng, self._deadline = objective, rng, deadline
        self._shape = (horizon, len(planner.low))
        self.evaluations, self.finished = 0, True
        # Of the objective; a calibration may have bound more or fewer than the planner asks for.
        self._samples: int = getattr(objective, "samples", planner.settings.samples)
        self._refined: Objective | None = getattr(objective, "refined", None)
        self._seconds_per_row = 0.0
        self._outlook: Outlook | None = None
        self.elites: Floats = np.empty((0, *self._shape), np.float32)
        self._scores: Floats = np.empty(0, np.float32)

    def look_ahead(self) -> None:
        """What reacting is worth; within a share of the time, because sequences have to be compared too."""
        look: Callable[..., Outlook | None] | None = getattr(self._objective, "outlook", None)
        if look is not None and self._settings.ways:
            seconds = None if self._deadline is None else _WAYS_SHARE * (self._deadline - time.monotonic())
            self._outlook = look(self._settings.ways, self._settings.way_samples, self._rng, seconds)

    def run(self, warm: Floats | None) -> None:
        """Score a population, draw the next around its best. ``warm``: shifted sequences of the last plan."""
        settings = self._settings
        iterations, count = settings.iterations, settings.candidates
        if warm is None:
            iterations, count = settings.first_iterations, settings.first_candidates
        candidates = self._first_population(warm, count)
        for iteration in range(iterations):
            # A population less costs less than finalists that are not compared: the few samples with which
            # the search compares flatter its best.
            if self._late(len(candidates) * self._samples + self._finalist_rows(settings.finalists)):
                return
            self._evaluate(candidates)
            parents = self.elites[: settings.parents]
            std = settings.refine_std * _COOLING**iteration
            following = max(1, round(count * settings.decay ** (iteration + 1)))
            # The mean competes too: averaging removes noise that no single candidate is free of.
            mean = self.elites[: settings.kept].mean(axis=0, keepdims=True)
            candidates = np.concatenate([mean, self._around(parents, std, following)])

    def _first_population(self, warm: Floats | None, count: int) -> Floats:
        """What was good one step ago and around it, suggested and hand-written ones, the whole range."""
        settings, planner = self._settings, self._planner
        known = primitives(planner.low, planner.high, self._shape[0])
        suggested = self._suggestions()
        wide = planner.centre[None, None]
        if warm is None:
            return np.concatenate([suggested, known, self._noisy(wide, settings.initial_std, count)])
        chosen = self._rng.choice(len(known), min(settings.primitives, len(known)), replace=False)
        exploring = round(settings.explore * count)
        return np.concatenate(
            [
                warm[: settings.kept],
                suggested,
                self._around(warm[: settings.parents], settings.warm_std, count - exploring),
                known[chosen],
                self._noisy(wide, settings.initial_std, exploring),
            ]
        )

    def _suggestions(self) -> Floats:
        suggest: Callable[[int], Floats] | None = getattr(self._objective, "suggestions", None)
        if suggest is None or not self._settings.suggestions:
            return np.empty((0, *self._shape), np.float32)
        return suggest(self._shape[0])[: self._settings.suggestions]

    def _around(self, parents: Floats, std: float, count: int) -> Floats:
        """Sequences near ``parents`` (P, H, U): some with one stretch at a bound, the others noisy."""
        settings, planner = self._settings, self._planner
        centres = parents[self._rng.integers(0, len(parents), count)]
        stretched = round(settings.stretches * count)
        return np.concatenate(
            [
                with_stretch(
                    self._rng, centres[:stretched], planner.low, planner.high, settings.longest_stretch
                ),
                self._noisy(centres[stretched:], std, count - stretched),
            ]
        )

    def _noisy(self, centres: Floats, std: float, count: int) -> Floats:
        noise = smooth_noise(self._rng, count, *self._shape, self._settings.smoothness)
        sequences = centres + std * self._planner.reach * noise
        return np.clip(sequences, self._planner.low, self._planner.high).astype(np.float32)

    def decide(self) -> tuple[Floats, float]:
        """The best candidate and its score; refined where the objective can and time is left."""
        if not len(self.elites):
            raise PlanningError("the deadline had passed before a single candidate was scored")
        finalists, judge = min(self._settings.finalists, len(self.elites)), self._objective
        if self._refined is not None and not self._late(self._finalist_rows(finalists)):
            judge = self._refined
            scores = finite_scores(judge(self.elites[:finalists]))
            self.evaluations += finalists
            order = np.argsort(-scores, kind="stable")
            self.elites[:finalists] = self.elites[order]
            self._scores[:finalists] = scores[order]
        ahead = self._outlook
        if ahead is not None and self._settings.way_weight * ahead.gain > self._scores[0]:
            return self._begin_with(ahead.action, judge)
        return self.elites[0].copy(), float(self._scores[0])

    def _begin_with(self, action: Floats, judge: Objective) -> tuple[Floats, float]:
        """The best of the finalists with another first action (U,), and its score."""
        changed = self.elites[: self._settings.finalists].copy()
        changed[:, 0] = action
        scores = finite_scores(judge(changed))
        self.evaluations += len(changed)
        best = int(scores.argmax())
        return changed[best], float(scores[best])

    def _evaluate(self, candidates: Floats) -> None:
        begin = time.monotonic()
        scores = np.asarray(self._objective(candidates), np.float32)
        self._seconds_per_row = (time.monotonic() - begin) / (len(candidates) * self._samples)
        self.evaluations += len(candidates)
        pool = np.concatenate([self.elites[: self._settings.kept], candidates])
        scores = np.concatenate([self._scores[: self._settings.kept], scores])
        best = elite_indices(scores, max(self._settings.kept, self._settings.finalists))
        self.elites, self._scores = pool[best], scores[best]

    def _finalist_rows(self, finalists: int) -> int:
        comparisons = 1 if self._outlook is None else 2  # once more with another first action
        return 0 if self._refined is None else comparisons * finalists * self._settings.finalist_samples

    def _late(self, rows: int) -> bool:
        """Whether scoring ``rows`` (candidates x samples) more would end after the deadline."""
        if self._deadline is None or not self.evaluations:
            return False
        late = time.monotonic() + rows * self._seconds_per_row >= self._deadline
        self.finished = self.finished and not late
        return late
