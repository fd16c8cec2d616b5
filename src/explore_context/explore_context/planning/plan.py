"""What every planner promises: an objective goes in, a plan comes out before the deadline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class PlanningError(RuntimeError):
    """No plan could be made; the message says why."""


class Objective(Protocol):
    """Scores candidates: action sequences (K, H, U) float32 -> (K,), larger is better.

    Non-finite scores are allowed; planners discard them. An objective may have a second, more exact self in
    the attribute ``refined`` (None: it has none), with which the real-time planner decides between its
    finalists, a number ``samples`` of context samples, a ``device_search`` (``device.py``), and a method
    ``suggestions(horizon)`` -> (E, H, U): sequences that the real-time planner tries beside its own, and a
    method ``outlook(ways, samples, rng, seconds)`` -> ``Outlook`` or None: what reacting is worth
    (``ways.py``).
    """

    def __call__(self, candidates: Floats) -> Floats: ...


@dataclass(frozen=True)
class Plan:
    """An action sequence and what is known of it.

    Attributes
    ----------
    actions:  (H, U), within the bounds.
    score:  the objective's value of ``actions`` (expected information gain in nats, or minus the control
        cost).
    evaluations:  candidates scored to find it.
    seconds:  time that the search took.
    finished:  False if a deadline cut the search short, or if the plan is an older one shifted.
    """

    actions: Floats
    score: float
    evaluations: int
    seconds: float
    finished: bool

    def shifted(self, steps: int, horizon: int) -> Plan:
        """The rest of the plan after ``steps`` steps, filled up to ``horizon`` with its last action."""
        rest = self.actions[min(steps, len(self.actions) - 1) :][:horizon]
        tail = np.repeat(rest[-1:], max(0, horizon - len(rest)), axis=0)
        return replace(self, actions=np.concatenate([rest, tail]), evaluations=0, seconds=0.0, finished=False)


class Planner(ABC):
    """Searches the action sequence of the highest score within [low, high] (U,)."""

    def __init__(self, action_low: NDArray[np.floating], action_high: NDArray[np.floating]) -> None:
        self.low = np.asarray(action_low, np.float32).reshape(-1)
        self.high = np.asarray(action_high, np.float32).reshape(-1)
        if (
            self.low.shape != self.high.shape
            or not np.isfinite([self.low, self.high]).all()
            or (self.low >= self.high).any()
        ):
            raise ValueError(f"action bounds must be finite with low < high, got {self.low} .. {self.high}")
        self.centre = ((self.low + self.high) / 2).astype(np.float32)
        self.reach = ((self.high - self.low) / 2).astype(np.float32)

    @property
    @abstractmethod
    def samples(self) -> int:
        """Context samples S that the planner wants its objective to average over."""

    @property
    @abstractmethod
    def finalist_samples(self) -> int:
        """Context samples of the refined objective; 0: none is needed."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int, dimensions: int) -> Floats:
        """Standard normal context samples (n, dimensions)."""

    @abstractmethod
    def plan(
        self, objective: Objective, horizon: int, rng: np.random.Generator, deadline: float | None = None
    ) -> Plan:
        """Best sequence of ``horizon`` actions. ``deadline``: a time of ``time.monotonic()`` at which the
        best plan so far is returned.
        """

    @abstractmethod
    def reset(self) -> None:
        """Forget earlier plans: the next plan belongs to another rollout."""

    @abstractmethod
    def advance(self) -> None:
        """One action was executed: the next plan starts one step later."""


def finite_scores(scores: Floats) -> Floats:
    """Non-finite scores become -inf, so that they never win; if nothing else is left there is no plan."""
    usable = np.where(np.isfinite(scores), scores, -np.inf).astype(np.float32)
    if not np.isfinite(usable).any():
        raise PlanningError(
            f"all {len(scores)} candidates have a non-finite score: "
            "the model's predictions or the state it was given are broken"
        )
    return usable
