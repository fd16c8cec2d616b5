"""Who may command a plant, and which action is in force. No ROS here; time comes in as seconds of the node's
clock.

One commander at a time: the first sender whose action or claim is accepted holds the command until it is
silent for the watchdog time, gives it up (a release) or the plant becomes another system. Others are refused.
A commander that thinks longer than that repeats its claim. A reset of the same system ends all actions but
not the command: a commander that thinks about its first action after a reset must not lose the plant to
another one.

An action is tagged with the step at which its transition begins.

- ``lockstep``: only the current step k is accepted; its transition follows at once. A silent commander loses
  the command after the watchdog time; nothing moves, because the plant never advances alone.
- ``realtime``: the transition of step k is already under way with one constant action, so that what the plant
  reports as applied is exact. Accepted are therefore steps k + 1 to k + ``LOOKAHEAD``; each action waits
  until its step begins, and a later message for the same step replaces it. Tags up to k are stale. A step
  without an action of its own holds the last one, and zero as soon as the command would grow older than the
  watchdog time before the step ends: when the commander dies, the action in force is zero within the watchdog
  time.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from explore_context.nodes.samples import (
    ActionCommand,
    Array,
    Kind,
    RejectedMessage,
    Rejection,
    checked_vector,
)

Mode = Literal["lockstep", "realtime"]
LOOKAHEAD = 4


class CommandAuthority:
    """Judges every incoming action and names the action of the transition that begins."""

    def __init__(self, mode: Mode, low: Array, high: Array, watchdog_time: float, period: float) -> None:
        """``low``, ``high`` (U,): bounds to which commands are clipped."""
        self._mode = mode
        self._low, self._high = low, high
        self._period = period
        self.watchdog_time = watchdog_time
        self.watchdog_stops = 0
        self._session_id, self._rollout = "", 0
        self.release()

    def begin_rollout(self, session_id: str, rollout: int) -> None:
        """Forget all actions: nothing from before a reset acts after it. The commander stays in the same
        session, as long as it is not silent."""
        if session_id != self._session_id:
            self.release()
        self._session_id, self._rollout = session_id, rollout
        self._forget_actions()

    def release(self) -> None:
        self.commander = ""
        self._heard_at = self._commanded_at = 0.0
        self._forget_actions()

    def _forget_actions(self) -> None:
        self._waiting: dict[int, Array] = {}
        self._held = np.zeros_like(self._low)

    def offer(self, action: ActionCommand, step: int, now: float) -> None:
        """Take an action while the plant is at ``step``, or raise RejectedMessage and change nothing."""
        if action.kind is Kind.COMMAND:
            checked_vector("command", action.command, self._low.size)
        self._check_identity(action)
        if self.commander == action.sender:
            # Even a late message shows that the commander is alive; only a command in time feeds the
            # watchdog.
            self._heard_at = now
        if action.kind is Kind.COMMAND:
            self._check_rollout(action.rollout)
            self._check_step(action.step, step)
            self.commander = action.sender
            self._heard_at = self._commanded_at = now
            self._waiting[action.step] = np.clip(action.command, self._low, self._high)
        elif action.kind is Kind.CLAIM:
            self.commander, self._heard_at = action.sender, now
        elif self.commander == action.sender:
            self.release()

    def begin_transition(self, step: int, now: float) -> Array:
        """The constant action, (U,), of the transition that begins at ``step`` now."""
        waiting = self._waiting.pop(step, None)
        self._waiting = {tag: action for tag, action in self._waiting.items() if tag > step}
        if waiting is not None:
            self._held = waiting
        if self.commander and self._too_old(now):
            if self._held.any():
                self.watchdog_stops += 1
            self._held = np.zeros_like(self._low)
        return self._held

    def expire(self, now: float) -> bool:
        """Take the command from a commander that has been silent for the watchdog time; true if that
        happened."""
        self._heard_at = min(self._heard_at, now)  # the clock may jump back under simulated time
        if not self.commander or now - self._heard_at < self.watchdog_time:
            return False
        self.watchdog_stops += bool(self._held.any()) and self._mode == "realtime"
        self.release()
        return True

    def _too_old(self, now: float) -> bool:
        self._commanded_at = min(self._commanded_at, now)
        ahead = self._period if self._mode == "realtime" else 0.0
        return now - self._commanded_at + ahead > self.watchdog_time

    def _check_identity(self, action: ActionCommand) -> None:
        if action.session_id != self._session_id:
            raise RejectedMessage(
                Rejection.FOREIGN_SESSION, f"action of another session, {action.session_id!r}"
            )
        if not action.sender:
            raise RejectedMessage(
                Rejection.MISSING_SENDER, "action without sender: fill in the field 'sender'"
            )
        if self.commander and action.sender != self.commander:
            raise RejectedMessage(
                Rejection.SECOND_COMMANDER,
                f"{action.sender!r} refused: {self.commander!r} commands this plant",
            )

    def _check_rollout(self, rollout: int) -> None:
        if rollout != self._rollout:
            raise RejectedMessage(
                Rejection.FOREIGN_ROLLOUT, f"action of rollout {rollout}, running is {self._rollout}"
            )

    def _check_step(self, tag: int, step: int) -> None:
        first, last = (step, step) if self._mode == "lockstep" else (step + 1, step + LOOKAHEAD)
        if tag < first:
            raise RejectedMessage(
                Rejection.STALE_STEP,
                f"action for step {tag} is late: {self._mode} takes {first} at the earliest",
            )
        if tag > last:
            raise RejectedMessage(
                Rejection.FUTURE_STEP,
                f"action for step {tag} is early: {self._mode} takes {last} at the latest",
            )
