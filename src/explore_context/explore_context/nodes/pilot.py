"""Answers a plant's states with planned actions, in lockstep and in real time. No ROS here.

- ``lockstep``: the plan for step k is made from the state of step k, and the plant waits for it. A repeated
  state means that the answer may be lost: it is sent again.
- ``realtime``: step k is under way when its state arrives, so the plan is for step k + 1, from the state that
  the model predicts there. The last plan's action for that step goes out at once and is replaced when the
  new plan is ready in time; a plan that comes later is a missed deadline, and the plant has the old plan's
  action. What the plant says that it applied decides: a command that looked punctual here may have reached
  it after its tick.
  The first plan of a rollout may take as long as it needs: until then the action is zero.

The command is claimed before anything is asked of the plant, and the claim repeated while nothing is sent: a
pilot that waits for a reset or for a long plan must not lose the plant to another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from explore_context.nodes.flight import Course, Decision, Phase, PilotSettings, Port, Situation
from explore_context.nodes.samples import Array, StateSample
from explore_context.nodes.transition_filter import Judgement, Transition, Verdict
from explore_context.planning.plan import Plan

# A lockstep plant answers an action at once; a state repeated this long after it says that it was lost.
_ANSWER_SECONDS = 0.1
# A fifth of the shortest watchdog time that plants have by default.
_CLAIM_SECONDS = 0.1


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
        self._commanding = False  # for the plant, the command outlives a reset
        self._claimed_at = 0.0  # or commanded
        self._course: Course | None = None
        self._heard = self._progressed = time.monotonic()
        self._ignored_since: float | None = None  # in real time: since when no command was applied

    @property
    def step(self) -> int:
        """Of the newest state; 0 before the first."""
        return self._seen[1] if self._seen else 0

    @property
    def planning(self) -> bool:
        return self._course is not None and self._course.thinking

    def stall(self, patience: float) -> str:
        """What has been waited for in vain for ``patience`` seconds, '' if things go on. Repeated states are
        no progress: they come too when resets or actions do not reach the plant. Planning may take its
        time."""
        now = time.monotonic()
        if self.phase is Phase.RESTING or self.planning:
            self._heard = self._progressed = now
        if now - self._heard > patience:
            return f"no state from the plant for {patience:g} s ({self.phase.value}); is it running?"
        if now - self._progressed > patience:
            lost = "a reset" if self.phase is Phase.RESETTING else "an action"
            return f"the plant has not answered {lost} for {patience:g} s; does it get them?"
        if self._ignored_since is not None and now - self._ignored_since > patience:
            return f"the plant has applied no action for {patience:g} s; does it get them, and in time?"
        return ""

    def begin_rollout(self) -> None:
        """The next state begins a rollout; if the plant can be reset, the first state after that."""
        self._heard = self._progressed = time.monotonic()
        self._ignored_since = None
        self._claim()
        self._course = None
        self.phase = Phase.WAITING
        if self.settings.reset and self._seen is not None:
            self._reset()

    def keep_command(self) -> None:
        """To be called often: repeat the claim where nothing else shows the plant that its commander
        lives."""
        if self.phase is not Phase.RESTING and time.monotonic() - self._claimed_at >= _CLAIM_SECONDS:
            self._claim()

    def _claim(self) -> None:
        self._commanding, self._claimed_at = True, time.monotonic()
        self._port.claim(self.settings.session_id)

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
        self._heard = time.monotonic()
        if not judgement.fresh and judgement.verdict is not Verdict.DUPLICATE:
            return
        if judgement.verdict is Verdict.FIRST or (judgement.fresh and self.phase is not Phase.RESETTING):
            self._progressed = self._heard
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
        flew, commanding, course = self.phase is Phase.FLYING, self._commanding, self._course
        self._ignored_since = None
        self.phase, self._course, self._commanding = Phase.RESTING, None, False
        if flew and self._seen is not None and (self.settings.realtime or not complete):
            rollout, step = self._seen
            answered = course is not None and step in course.sent
            target = step + 1 if self.settings.realtime or answered else step
            self._port.send(self.settings.session_id, rollout, target, np.zeros(self.settings.action_dim))
        if commanding:
            self._port.release(self.settings.session_id)

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
        self._course = Course(sample.rollout, sample.step, self.settings.action_dim)
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
            self._compare(course, sample)
            self._answer(course, sample.observation)

    def _compare(self, course: Course, sample: StateSample) -> None:
        """Lockstep plants apply what they are sent or nothing."""
        if not self.settings.realtime:
            return
        if course.note_applied(sample.step - 1, sample.applied_action):
            self._ignored_since = None
        else:
            self.missed_deadlines += 1
            self._ignored_since = self._ignored_since or time.monotonic()

    def _answer(self, course: Course, observation: Array) -> None:
        step, settings = course.newest, self.settings
        if settings.realtime:
            self._send(course, step + 1, course.planned(step + 1))
            under_way, commanded = course.under_way(step), course.first_step is not None
            deadline, flight_step = self._deadline(course), course.flight_step(step + 1)
            situation = Situation(observation, under_way, commanded, deadline, step + 1, flight_step)
        else:
            situation = Situation(observation, None, False, None, step, course.flight_step(step))
        if not course.thinking:
            self._submit(course, situation)
        elif course.first_step is not None:
            if course.waiting is not None:
                self.missed_deadlines += 1  # nobody will ever plan for that step
            course.waiting = situation

    def _submit(self, course: Course, situation: Situation) -> None:
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

    def _on_failure(self, course: Course, error: Exception) -> None:
        if course is self._course:
            self._failed(f"planning failed: {error}")

    def _on_decision(self, course: Course, decision: Decision) -> None:
        if course is not self._course:
            return
        course.thinking = False
        if decision.plan is not None:
            decision = self._adopt(course, decision)
            following, course.waiting = course.waiting, None
            if following is not None:
                # What is under way is known better now than when the state came in.
                under_way = course.under_way(following.step - 1)
                self._submit(course, replace(following, under_way=under_way))
        self._decided(decision)

    def _adopt(self, course: Course, decision: Decision) -> Decision:
        assert decision.plan is not None
        step = decision.step
        if course.first_step is None:
            if self.settings.realtime:
                step = course.newest + 1  # nothing but zeros went before: the plan begins when it is ready
            course.first_step = step
        course.plan, course.plan_step = decision.plan, step
        if not self.settings.realtime:
            self._send(course, step, course.planned(step))
            return decision
        if step <= course.newest:
            self.missed_deadlines += 1
        target = max(step, course.newest + 1)
        self._send(course, target, course.planned(target))
        return replace(decision, step=step)

    def _send(self, course: Course, step: int, command: Array) -> None:
        course.note_sent(step, command, time.monotonic())
        self._claimed_at = time.monotonic()
        self._port.send(self.settings.session_id, course.rollout, step, command)

    def _deadline(self, course: Course) -> float | None:
        if course.first_step is None:
            return None
        return time.monotonic() + max(self.settings.period - self.settings.margin, 0.0)
