"""The transitions of a recording, formed by the calibrator's own rules (``nodes.transition_filter``)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from explore_context.nodes.samples import Array, RejectedMessage, Rejection, StateSample, checked_vector
from explore_context.nodes.transition_filter import ACCOUNTED, Transition, TransitionFilter, Verdict
from explore_context.recording.reader import BELIEF, INFO, STATE, Recording, recording_facts
from explore_context.recording.writer import RecordingError


@dataclass
class RecordedSession:
    """What a recording holds of one system. ``first_state``: (X,), where its newest rollout begins."""

    session_id: str
    topic: str
    plant: str = ""
    transitions: list[Transition] = field(default_factory=list)
    first_state: Array | None = None
    rejected: Counter[str] = field(default_factory=Counter)
    published: Any = None  # the newest ContextBelief of this session
    _filter: TransitionFilter = field(default_factory=TransitionFilter, repr=False)

    def __post_init__(self) -> None:
        self._filter.begin_session(self.session_id)

    @property
    def rollouts(self) -> int:
        return len({transition.rollout for transition in self.transitions})

    def add(self, message: Any, state_dim: int, action_dim: int) -> None:
        """Judge one recorded state as the calibrator would have."""
        try:
            sample = _sample(message, state_dim, action_dim)
        except RejectedMessage as error:
            self.rejected[error.reason.value] += 1
            return
        judgement = self._filter.judge(sample)
        if judgement.verdict in ACCOUNTED:
            self.rejected[judgement.verdict.value] += 1
        if judgement.verdict is Verdict.FIRST:
            self.first_state = sample.observation
        if judgement.transition is not None:
            self.transitions.append(judgement.transition)


def read_sessions(path: Path | str, state_dim: int, action_dim: int) -> list[RecordedSession]:
    """All sessions of a recording in the order of their first state, also those without a transition."""
    sessions: dict[str, RecordedSession] = {}
    plants: dict[str, str] = {}
    beliefs: dict[str, Any] = {}
    with Recording(path) as recording:
        for item in recording.messages([STATE, INFO, BELIEF]):
            message, name = item.message, str(item.message.session_id)
            if item.type_name == INFO:
                plants[name] = str(message.plant)
            elif item.type_name == BELIEF:
                beliefs[name] = message
            else:
                session = sessions.setdefault(name, RecordedSession(name, item.topic))
                session.add(message, state_dim, action_dim)
        if not sessions:
            raise RecordingError(f"{path}: holds no {STATE} message; topics are: {_topics_text(recording)}")
    for name, session in sessions.items():
        session.plant, session.published = plants.get(name, ""), beliefs.get(name)
    return list(sessions.values())


def choose_session(
    path: Path | str, sessions: list[RecordedSession], session_id: str | None
) -> RecordedSession:
    """The named session (a unique beginning of the name is enough), or the newest with transitions: of the
    recorder's own robot, if it heard others too."""
    if session_id:
        matching = [session for session in sessions if session.session_id.startswith(session_id)]
        if len(matching) == 1:
            return matching[0]
        known = ", ".join(session.session_id for session in sessions)
        problem = "several sessions begin with" if matching else "no session"
        raise RecordingError(f"{path}: {problem} {session_id!r}; there are: {known}")
    with_transitions = [session for session in sessions if session.transitions]
    if not with_transitions:
        rejected: Counter[str] = sum((session.rejected for session in sessions), Counter())
        detail = f" (rejected: {dict(rejected)})" if rejected else ""
        raise RecordingError(
            f"{path}: no two consecutive states of one rollout{detail}; record a whole calibration"
        )
    namespace = recording_facts(path).get("namespace")
    own = [s for s in with_transitions if namespace and s.topic == f"{namespace.rstrip('/')}/state"]
    return (own or with_transitions)[-1]


def _sample(message: Any, state_dim: int, action_dim: int) -> StateSample:
    step = int(message.step)
    if not math.isfinite(message.reward):
        raise RejectedMessage(Rejection.NON_FINITE, "reward is not finite")
    return StateSample(
        session_id=str(message.session_id),
        rollout=int(message.rollout),
        step=step,
        observation=checked_vector("observation", np.array(message.observation, dtype=np.float64), state_dim),
        applied_action=checked_vector(
            "applied action", np.array(message.applied_action, dtype=np.float64), action_dim if step else 0
        ),
        reward=float(message.reward),
    )


def _topics_text(recording: Recording) -> str:
    return ", ".join(_topic_lines(recording)) or "none"


def _topic_lines(recording: Recording) -> Iterator[str]:
    for topic, (type_name, _) in sorted(recording.topics.items()):
        yield f"{topic} ({type_name})"
