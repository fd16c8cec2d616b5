"""Which states form a transition: only two consecutive steps of one rollout of one session. No ROS here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from explore_context.nodes.samples import Array, StateSample


class Verdict(Enum):
    """What a state is, judged by the states before it. The value is the word that diagnostics show."""

    CONSECUTIVE = "consecutive"
    FIRST = "first"  # of a rollout, as far as this node has seen it
    DUPLICATE = "duplicate"
    GAP = "gap"  # the states in between were lost: it is new, but forms no transition
    OUT_OF_ORDER = "out_of_order"
    FOREIGN_SESSION = "foreign_session"


FRESH = frozenset({Verdict.CONSECUTIVE, Verdict.FIRST, Verdict.GAP})
"""The plant really is there now, so that an answer to the state makes sense."""

ACCOUNTED = frozenset({Verdict.GAP, Verdict.OUT_OF_ORDER, Verdict.FOREIGN_SESSION})
"""Counted as rejected. A duplicate is not: a lockstep plant repeats an unanswered state on purpose."""


@dataclass(frozen=True)
class Transition:
    """(x, u, x+) as the plant reports it: x, x+ (X,), u (U,) the action that was really applied; ``step`` is
    that of x."""

    rollout: int
    step: int
    state: Array
    action: Array
    following: Array
    reward: float


@dataclass(frozen=True)
class Judgement:
    sample: StateSample
    verdict: Verdict
    transition: Transition | None = None

    @property
    def fresh(self) -> bool:
        return self.verdict in FRESH


class TransitionFilter:
    """Remembers the newest state and judges the next one against it."""

    def __init__(self) -> None:
        self._session_id = ""
        self.newest: StateSample | None = None

    def begin_session(self, session_id: str) -> None:
        """Another system: nothing seen so far belongs to it."""
        self._session_id, self.newest = session_id, None

    def judge(self, sample: StateSample) -> Judgement:
        """``sample`` is well formed; only its place among the others is in question."""
        verdict = self._verdict(sample)
        if verdict is not Verdict.CONSECUTIVE:
            if verdict in FRESH:
                self.newest = sample
            return Judgement(sample, verdict)
        before, self.newest = self.newest, sample
        assert before is not None
        transition = Transition(
            sample.rollout,
            before.step,
            before.observation,
            sample.applied_action,
            sample.observation,
            sample.reward,
        )
        return Judgement(sample, verdict, transition)

    def _verdict(self, sample: StateSample) -> Verdict:
        newest = self.newest
        if sample.session_id != self._session_id:
            return Verdict.FOREIGN_SESSION
        if newest is None or sample.rollout > newest.rollout:
            return Verdict.FIRST
        if (sample.rollout, sample.step) == (newest.rollout, newest.step):
            return Verdict.DUPLICATE
        if sample.rollout < newest.rollout or sample.step < newest.step:
            return Verdict.OUT_OF_ORDER
        return Verdict.CONSECUTIVE if sample.step == newest.step + 1 else Verdict.GAP
