"""Answers a plant's states with planned actions, in lockstep and in real time. No ROS here.

- ``lockstep``: the plan for step k is made from the state of step k, and the plant waits for it. A repeated
  state means that the answer may be lost: it is sent again.
- ``realtime``: step k is under way when its state arrives, so the plan is for step k + 1, from the state that
  the model predicts there. The last plan's action for that step goes out at once and is replaced when the
  new plan is ready in time; a plan that comes later is a missed deadline, and the plant has the old plan's
  action.
  The first plan of a rollout may take as long as it needs: until then the action is zero.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol, TypeVar

import numpy as np

from explore_context.nodes.samples import Array
from explore_context.nodes.transition_filter import Judgement, Transition, Verdict
from explore_context.planning.plan import Plan

T = TypeVar("T")

# A lockstep plant answers an action at once; a state repeated this long after it says that it was lost.
_ANSWER_SECONDS = 0.1


class Port(Protocol):
    """What a pilot needs of the world around it."""

    def send(self, session_id: str, rollout: int, step: int, command: Array) -> None:
        """Publish an action; an empty one gives up the command."""

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
    action that the plant applies until then; ``commanded``: that action is already part of the flight."""

    state: Array
    under_way: Array | None
    commanded: bool
    deadline: float | None
    step: int


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
class _Course:
    """Plan and commands of the rollout that is being flown."""

    rollout: int
    newest: int
    first_step: int | None = None
    plan: Plan | None = None
    plan_step: int = 0
    sent: dict[int, Array] = field(default_factory=dict)
    sent_at: float = 0.0
    thinking: bool = False
    waiting: Situation | None = None


class Pilot:
    """Flies rollouts one after another; ``think`` runs in the planning thread, everything else in the
    executor's."""

    def __init__(
        self,
        port: Port,
        settings: PilotSettings,
        think: Callable[[Situation], Plan | None],
        decided: Callable[[Decision], None],
        failed: Callable[[str], None],
    ) -> None:
        self._port = port
        self.settings = settings
        self._think, self._decided, self._failed = think, decided, failed
        self.phase = Phase.RESTING
        self.missed_deadlines = 0
        self._seen: tuple[int, int] | None = None  # newest rollout and step
        self._reset_from = -1
        self._course: _Course | None = None

    @property
    def step(self) -> int:
        """Of the newest state; 0 before the first."""
        return self._seen[1] if self._seen else 0

    def begin_rollout(self) -> None:
        """The next state begins a rollout; if the plant can be reset, the first state after that."""
        self._course = None
        self.phase = Phase.WAITING
        if self.settings.reset and self._seen is not None:
            self._reset()

    def counts(self, transition: Transition) -> bool:
        """Whether a transition is part of the flight: made by this pilot's commands, not before them."""
        course = self._course
        return (
            self.phase is Phase.FLYING
            and course is not None
            and transition.rollout == course.rollout
            and course.first_step is not None
            and transition.step >= course.first_step
        )

    def on_state(self, judgement: Judgement) -> None:
        """A state of the present session; stale ones are no concern of a pilot."""
        sample = judgement.sample
        if not judgement.fresh and judgement.verdict is not Verdict.DUPLICATE:
            return
        self._seen = sample.rollout, sample.step
        if self.phase is Phase.WAITING and self.settings.reset:
            self._reset()
        elif self.phase is Phase.WAITING or (
            self.phase is Phase.RESETTING and sample.rollout > self._reset_from
        ):
            self._start(judgement)
        elif self.phase is Phase.FLYING:
            self._fly(judgement)

    def stop(self, *, complete: bool) -> None:
        """Give up the command, after a zero action as the plant's last one. After a ``complete`` rollout in
        lockstep nothing moves any more, and a zero would only add a transition to it."""
        flew, self.phase, self._course = self.phase is Phase.FLYING, Phase.RESTING, None
        if self._seen is None or not flew:
            return
        rollout, step = self._seen
        if self.settings.realtime or not complete:
            target = step + 1 if self.settings.realtime else step
            self._port.send(self.settings.session_id, rollout, target, np.zeros(self.settings.action_dim))
        self._port.send(self.settings.session_id, rollout, step, np.empty(0))

    def _reset(self) -> None:
        assert self._seen is not None
        self._reset_from = self._seen[0]
        self.phase = Phase.RESETTING
        self._port.reset(self._on_reset)

    def _on_reset(self, refusal: str) -> None:
        if refusal and self.phase is Phase.RESETTING:
            self._failed(refusal)

    def _start(self, judgement: Judgement) -> None:
        sample = judgement.sample
        self.phase = Phase.FLYING
        self._course = _Course(sample.rollout, sample.step)
        self._answer(self._course, sample.observation)

    def _fly(self, judgement: Judgement) -> None:
        course, sample = self._course, judgement.sample
        assert course is not None
        if sample.rollout != course.rollout:  # somebody else reset the plant: what was planned is void
            self._start(judgement)
        elif judgement.verdict is Verdict.DUPLICATE:
            lost = time.monotonic() - course.sent_at > _ANSWER_SECONDS
            if not self.settings.realtime and sample.step in course.sent and lost:
                self._send(course, sample.step, course.sent[sample.step])
        else:
            course.newest = sample.step
            self._answer(course, sample.observation)

    def _answer(self, course: _Course, observation: Array) -> None:
        step, settings = course.newest, self.settings
        if settings.realtime:
            self._send(course, step + 1, self._planned(course, step + 1))
            under_way, commanded = self._under_way(course, step), course.first_step is not None
            situation = Situation(observation, under_way, commanded, self._deadline(course), step + 1)
        else:
            situation = Situation(observation, None, False, None, step)
        if not course.thinking:
            self._submit(course, situation)
        elif course.first_step is not None:
            if course.waiting is not None:
                self.missed_deadlines += 1  # nobody will ever plan for that step
            course.waiting = situation

    def _submit(self, course: _Course, situation: Situation) -> None:
        course.thinking = True
        self._port.submit(
            lambda: self._timed(situation),
            lambda decision: self._on_decision(course, decision),
            lambda error: self._on_failure(course, error),
        )

    def _timed(self, situation: Situation) -> Decision:
        started = time.monotonic()
        plan = self._think(situation)
        if plan is not None and not np.isfinite(plan.actions).all():
            raise ValueError("the planner returned a non-finite action")
        return Decision(plan, situation.step, time.monotonic() - started)

    def _on_failure(self, course: _Course, error: Exception) -> None:
        if course is self._course:
            self._failed(f"planning failed: {error}")

    def _on_decision(self, course: _Course, decision: Decision) -> None:
        if course is not self._course:
            return
        course.thinking = False
        if decision.plan is not None:
            decision = self._adopt(course, decision)
            following, course.waiting = course.waiting, None
            if following is not None:
                # What is under way is known better now than when the state came in.
                under_way = self._under_way(course, following.step - 1)
                self._submit(course, replace(following, under_way=under_way))
        self._decided(decision)

    def _adopt(self, course: _Course, decision: Decision) -> Decision:
        assert decision.plan is not None
        step = decision.step
        if course.first_step is None:
            if self.settings.realtime:
                step = course.newest + 1  # nothing but zeros went before: the plan begins when it is ready
            course.first_step = step
        course.plan, course.plan_step = decision.plan, step
        if not self.settings.realtime:
            self._send(course, step, self._planned(course, step))
            return decision
        if step <= course.newest:
            self.missed_deadlines += 1
        target = max(step, course.newest + 1)
        self._send(course, target, self._planned(course, target))
        return replace(decision, step=step)

    def _send(self, course: _Course, step: int, command: Array) -> None:
        course.sent[step], course.sent_at = command, time.monotonic()
        for old in [each for each in course.sent if each < step - 8]:
            del course.sent[old]
        self._port.send(self.settings.session_id, course.rollout, step, command)

    def _planned(self, course: _Course, step: int) -> Array:
        """The newest plan's action for ``step``; zero where the plan is not or no more."""
        offset = step - course.plan_step
        if course.plan is None or not 0 <= offset < len(course.plan.actions):
            return np.zeros(self.settings.action_dim)
        return np.asarray(course.plan.actions[offset], dtype=np.float64)

    def _under_way(self, course: _Course, step: int) -> Array:
        """The action of the transition that began at ``step``: the last one sent for it or before it."""
        known = [each for each in course.sent if each <= step]
        return course.sent[max(known)] if known else np.zeros(self.settings.action_dim)

    def _deadline(self, course: _Course) -> float | None:
        if course.first_step is None:
            return None
        return time.monotonic() + max(self.settings.period - self.settings.margin, 0.0)
