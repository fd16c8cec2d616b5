"""What a pilot works with: the world around it, what it is told, what it decides, and the course that it
flies. No ROS here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeVar

import numpy as np

from explore_context.nodes.samples import Array
from explore_context.planning.plan import Plan

T = TypeVar("T")

_REMEMBERED = 8  # steps whose commands a course keeps


class Port(Protocol):
    """What a pilot needs of the world around it."""

    def send(self, session_id: str, rollout: int, step: int, command: Array) -> None:
        """Publish an action."""

    def claim(self, session_id: str) -> None:
        """Take the command, or keep it, without any action."""

    def release(self, session_id: str) -> None:
        """Give up the command."""

    def reset(self, done: Callable[[str], None]) -> None:
        """Ask the plant for a new rollout; ``done`` gets '' or the reason of a refusal."""

    def submit(
        self, job: Callable[[], T], deliver: Callable[[T], None], fail: Callable[[Exception], None]
    ) -> None:
        """Run a job in the planning thread."""


@dataclass(frozen=True)
class PilotSettings:
    """``margin``: seconds before the end of a period at which planning must end."""

    session_id: str
    mode: str
    period: float
    action_dim: int
    reset: bool = True
    margin: float = 0.02

    @property
    def realtime(self) -> bool:
        return self.mode == "realtime"


@dataclass(frozen=True)
class Situation:
    """What a plan for ``step`` starts from: ``state`` (X,); ``under_way`` (U,), None in lockstep, is the
    action that the plant applies until then; ``commanded``: that action is already part of the flight;
    ``flight_step``: ``step`` counted from the first one of the flight, lost states included."""

    state: Array
    under_way: Array | None
    commanded: bool
    deadline: float | None
    step: int
    flight_step: int


@dataclass(frozen=True)
class Decision:
    """A plan for ``step`` and how long it took; ``plan`` None: nothing more to do in this rollout."""

    plan: Plan | None
    step: int
    seconds: float


class Phase(Enum):
    WAITING = "waiting for a state"
    RESETTING = "waiting for a new rollout"
    FLYING = "flying"
    RESTING = "resting"


@dataclass
class Course:
    """Plan and commands of the rollout that is being flown."""

    rollout: int
    newest: int
    action_dim: int
    first_step: int | None = None
    plan: Plan | None = None
    plan_step: int = 0
    sent: dict[int, Array] = field(default_factory=dict)
    sent_at: float = 0.0
    thinking: bool = False
    waiting: Situation | None = None

    def flight_step(self, step: int) -> int:
        return 0 if self.first_step is None else step - self.first_step

    def note_sent(self, step: int, command: Array, now: float) -> None:
        self.sent[step], self.sent_at = command, now
        for old in [each for each in self.sent if each < step - _REMEMBERED]:
            del self.sent[old]

    def note_applied(self, step: int, applied: Array) -> bool:
        """Believe the plant about the transition that began at ``step``; false if it had not got the command
        that this flight sent for it. The first plan comes at any moment and has no deadline to miss."""
        sent = self.sent.get(step)
        self.sent[step] = applied
        if sent is None or self.first_step is None or step <= self.first_step:
            return True
        # Equal up to the rounding of bounds to which a plant clips.
        return np.allclose(sent, applied, rtol=1e-5, atol=1e-6)

    def planned(self, step: int) -> Array:
        """The newest plan's action for ``step``; zero where the plan is not or no more."""
        offset = step - self.plan_step
        if self.plan is None or not 0 <= offset < len(self.plan.actions):
            return np.zeros(self.action_dim)
        return np.asarray(self.plan.actions[offset], dtype=np.float64)

    def under_way(self, step: int) -> Array:
        """The action of the transition that began at ``step``: the last one sent for it or before it."""
        known = [each for each in self.sent if each <= step]
        return self.sent[max(known)] if known else np.zeros(self.action_dim)
