"""A real robot as a plant: steps on a timer, observations from its sensors, one constant action per step. No
ROS here.

A session lasts until an operator says that the system is another one. A rollout ends whenever the sensors
fall silent for the watchdog time: what happened in between is unknown, so nothing before the gap forms a
transition with anything after it. A step without anything new from the sensors counts and is commanded, but
shows no state: the old observation again would be a transition that never happened.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

import numpy as np

from explore_context.nodes.command import CommandAuthority
from explore_context.nodes.samples import ActionCommand, Array, StateSample


class RobotSession:
    """Feeds on observations, answers every tick with the state to publish and the command to send."""

    def __init__(
        self,
        low: Array,
        high: Array,
        period: float,
        watchdog_time: float,
        make_session_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        """``low``, ``high`` (U,): bounds of the command; ``watchdog_time`` guards commander and sensors
        alike."""
        self.authority = CommandAuthority("realtime", low, high, watchdog_time, period)
        self._watchdog_time = watchdog_time
        self._zero = np.zeros_like(low)
        self._make_session_id = make_session_id
        self._observation: Array | None = None
        self._observed_at = 0.0
        self._fresh = False  # observed since the last tick
        self.steps_unseen = 0
        self.session_id, self.rollout = make_session_id(), 0
        self._begin_rollout()

    def _begin_rollout(self) -> None:
        self.step = -1  # no state yet
        self.command = self._zero
        self.authority.begin_rollout(self.session_id, self.rollout)

    def observe(self, observation: Array, now: float) -> None:
        self._observation, self._observed_at, self._fresh = observation, now, True

    def offer(self, action: ActionCommand, now: float) -> None:
        """Take an action or raise RejectedMessage."""
        self.authority.offer(action, self.step, now)

    def reset(self, *, new_system: bool) -> None:
        """The robot stands where a rollout may begin; with ``new_system`` it is another robot."""
        if new_system:
            self.session_id, self.rollout = self._make_session_id(), 0
        else:
            self.rollout += 1
        self._begin_rollout()

    def tick(self, now: float) -> StateSample | None:
        """A step ends. None where the sensors said nothing new in it; with a zero command, and the end of the
        rollout, when they are silent for the watchdog time."""
        fresh, self._fresh = self._fresh, False
        self._observed_at = min(self._observed_at, now)
        if self._observation is None or now - self._observed_at > self._watchdog_time:
            self._observation = None
            if self.step >= 0:
                self.reset(new_system=False)
            return None
        if self.step < 0 and not fresh:
            return None
        applied = self.command if self.step >= 0 else np.empty(0)
        self.step += 1
        self.command = self.authority.begin_transition(self.step, now)
        if not fresh:
            self.steps_unseen += 1
            return None
        return StateSample(self.session_id, self.rollout, self.step, self._observation, applied)
