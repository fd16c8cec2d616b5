"""Everything the page knows of one robot, built from its messages, live or recorded.

Methods ``on_*`` take any object with the fields of the ROS message. ``snapshot`` and ``take_changes`` give
plain values for JSON: whole sections that changed, and for charts the new rows only.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from explore_context.dashboard.coverage import Coverage, PlaneCoverage, coverage_of, true_terrain
from explore_context.dashboard.health import Health
from explore_context.dashboard.series import Series, number, numbers
from explore_context.plants.base import Array

STATUS = ("prior", "calibrating", "calibrated", "cancelled", "aborted", "stale")
_MOST_ACTIONS = 400
# Topics overtake each other by a message or two; more is lost, and not worth waiting for.
_MOST_OWED = 2

_Triple = tuple[Array, Array, Array]


class RobotView:
    """Not safe for two threads; the server's thread owns it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.health = Health()
        self._sections: dict[str, Any] = {"online": True, "goal": None, "coverage": {}}
        self._changed: set[str] = set()
        # Rows: belief (transitions, entropy, gained, expected), planning (number, seconds), states (step, x),
        # actions (step, u).
        self._series = {
            "belief": Series(),
            "planning": Series(),
            "states": Series(600),
            "actions": Series(600),
        }
        self._session = self._plant = ""
        self._coverage: Coverage = PlaneCoverage()
        self._newest: tuple[str, int, int, Array] | None = None
        self._pending: deque[_Triple] = deque(maxlen=1000)
        self._believed: Any = None
        self._transitions = self._owed = self._plans = self._unseen = 0

    # -- messages -----------------------------------------------------------------------------------------

    def on_info(self, message: Any) -> None:
        context = [float(value) for value in message.hidden_context]
        if str(message.session_id) != self._session:
            self._begin_session(str(message.session_id), str(message.plant))
        self._set(
            "info",
            {
                "session": str(message.session_id),
                "plant": str(message.plant),
                "mode": str(message.mode),
                "period": number(message.period),
                "observation_names": [str(name) for name in message.observation_names],
                "action_low": numbers(message.action_low),
                "action_high": numbers(message.action_high),
                "commander": str(message.commander),
                "hidden_context": numbers(context),
                "terrain": true_terrain(context) if message.plant == "mountain_car" else [],
            },
        )

    def on_state(self, message: Any) -> None:
        session, rollout, step = str(message.session_id), int(message.rollout), int(message.step)
        observation = np.array(message.observation, dtype=np.float64)
        action = np.array(message.applied_action, dtype=np.float64)
        expected = len(self._sections.get("info", {}).get("observation_names", observation))
        if observation.size != expected:
            raise ValueError(f"a state of {observation.size} entries, expected {expected}")
        newest = self._newest
        if newest is not None and newest[:3] == (session, rollout, step):
            return
        if newest is not None and newest[:2] != (session, rollout):
            self._begin_rollout()
        elif newest is not None and step == newest[2] + 1:
            self._observe((newest[3], action, observation))
        self._newest = session, rollout, step, observation
        self._series["states"].add(step, *observation)
        if action.size:
            self._series["actions"].add(step - 1, *action)
        self._set(
            "state",
            {
                "rollout": rollout,
                "step": step,
                "observation": numbers(observation),
                "action": numbers(action),
                "reward": number(message.reward),
            },
        )

    def on_belief(self, message: Any) -> None:
        transitions, status = int(message.number_of_transitions), _status(message)
        if status == "prior" and self._believes("calibrating", "lost"):
            self._lose_goal()
        if status != "stale":
            self._believed = message
            self._follow_belief(message)
        self._set(
            "belief",
            {
                "mean": numbers(message.mean, 4),
                "std": numbers(message.std, 4),
                "entropy": number(message.entropy),
                "gained": number(message.information_gained),
                "expected": number(message.expected_gain),
                "transitions": transitions,
                "status": status,
                "model": str(message.model_hash),
            },
        )

    def on_feedback(self, feedback: Any) -> None:
        """A ``Calibrate.Feedback``."""
        seconds = number(feedback.planning_time)
        rows = self._series["planning"].rows
        if seconds and (not rows or rows[-1][1] != seconds):
            self._plans += 1
            self._series["planning"].add(self._plans, seconds)
        self._set(
            "plan",
            {
                "rollout": int(feedback.rollout),
                "step": int(feedback.step),
                "expected": number(feedback.expected_gain),
                "seconds": seconds,
                "actions": numbers(list(feedback.planned_actions)[:_MOST_ACTIONS], 4),
            },
        )

    def on_goal(self, goal: dict[str, Any]) -> None:
        self._set("goal", goal)

    def on_calibrator(self, present: bool) -> None:
        """Whether anybody publishes a belief; a calibrator that was killed cannot say that it has ended."""
        if not present and self._believes("calibrating"):
            self._set("belief", {**self._sections["belief"], "status": "lost"})

    def on_online(self, online: bool) -> None:
        self._set("online", online)

    def on_diagnostics(self, status: Any, name: str, now: float) -> None:
        level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
        values = {str(entry.key): str(entry.value) for entry in status.values}
        if self.health.report(name, level, str(status.message), values, now):
            self._publish_health()

    def on_lifecycle(self, name: str, state: str, now: float) -> None:
        if self.health.lifecycle(name, state, now):
            self._publish_health()

    def check(self, now: float) -> None:
        if self.health.check(now):
            self._publish_health()

    # -- what the page gets -------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        return {
            **self._sections,
            "series": {name: series.snapshot() for name, series in self._series.items()},
        }

    def take_changes(self) -> dict[str, Any]:
        """Everything new since the last call; empty if nothing is."""
        changes: dict[str, Any] = {name: self._sections[name] for name in self._changed}
        self._changed.clear()
        series = {
            name: change for name, s in self._series.items() if (change := s.take_changes()) is not None
        }
        if series:
            changes["series"] = series
        return changes

    # -- bookkeeping --------------------------------------------------------------------------------------

    def _set(self, section: str, value: Any) -> None:
        if section not in self._sections or self._sections[section] != value:
            self._sections[section] = value
            self._changed.add(section)

    def _believes(self, *statuses: str) -> bool:
        return self._sections.get("belief", {}).get("status") in statuses

    def _lose_goal(self) -> None:
        """From calibrating straight back to the prior: the calibrator was restarted, and forgot its goal."""
        if (self._sections["goal"] or {}).get("state") in ("sending", "running"):
            self._set("goal", {"state": "lost", "message": "the calibrator was restarted; start again"})

    def _publish_health(self) -> None:
        self._set("nodes", self.health.describe())
        self._set("faults", list(self.health.faults))

    def _begin_session(self, session: str, plant: str) -> None:
        self._session, self._plant = session, plant
        if self._newest is not None and self._newest[0] != session:
            self._begin_rollout()
        self._begin_belief()
        if self._believed is not None and str(self._believed.session_id) == session:
            self._follow_belief(self._believed)  # it was faster than the plant's description

    def _begin_rollout(self) -> None:
        self._newest = None
        self._owed = 0  # what has not come of the old rollout never will
        self._pending.clear()
        self._series["states"].clear()
        self._series["actions"].clear()

    def _begin_belief(self) -> None:
        self._transitions = self._owed = self._plans = self._unseen = 0
        self._series["belief"].clear()
        self._series["planning"].clear()
        self._coverage = coverage_of(self._plant)
        self._cover([])
        self._set("plan", None)

    def _follow_belief(self, message: Any) -> None:
        """What the first belief contains was learned before this view looked, or comes from a recording."""
        transitions = int(message.number_of_transitions)
        if transitions < self._transitions:
            self._begin_belief()
        rows = self._series["belief"].rows
        if rows:
            calibrating = _status(message) == "calibrating" or self._believes("calibrating")
            self._credit(transitions - self._transitions, calibrating)
        else:
            self._unseen = transitions
            self._pending.clear()
            self._cover([])
        if not rows or rows[-1][:2] != [transitions, number(message.entropy)]:
            self._series["belief"].add(
                transitions, message.entropy, message.information_gained, message.expected_gain
            )
        self._transitions = transitions

    def _observe(self, transition: _Triple) -> None:
        """A transition was seen; whether it entered the belief, the belief's counter tells."""
        if self._owed > 0:
            self._owed -= 1
            self._cover([transition])
        else:
            self._pending.append(transition)

    def _credit(self, new: int, calibrating: bool) -> None:
        """The belief has seen ``new`` more transitions: the latest, which may not have arrived here yet.
        Without a calibration none is waited for: what comes next is not in the belief."""
        if new <= 0:
            return
        known = list(self._pending)[-new:]
        self._pending.clear()
        missing = self._owed + new - len(known)
        self._owed = min(missing, _MOST_OWED) if calibrating else 0
        self._unseen += missing - self._owed
        self._cover(known)

    def _cover(self, transitions: list[_Triple]) -> None:
        for transition in transitions:
            self._coverage.add(*transition)
        unseen = {"unseen": self._unseen} if self._unseen else {}
        self._set("coverage", {**self._coverage.describe(), **unseen})


def _status(message: Any) -> str:
    return STATUS[int(message.status)] if int(message.status) < len(STATUS) else "unknown"
