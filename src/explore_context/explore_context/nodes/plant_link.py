"""A commander's side of the plant's topics and service: who the plant is, what it shows, what it is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from explore_context_interfaces.msg import PlantAction, PlantInfo, PlantState
from explore_context_interfaces.srv import Reset
from rclpy.node import Node
from rclpy.task import Future

from explore_context.model import ContextModel
from explore_context.nodes import conversions, qos
from explore_context.nodes.counters import Rate, Rejections
from explore_context.nodes.runtime import stop_requested
from explore_context.nodes.samples import ActionCommand, Array, Kind, PlantDescription, RejectedMessage
from explore_context.nodes.transition_filter import ACCOUNTED, Judgement, TransitionFilter, Verdict

_LOOK_SECONDS = 0.02
_DISCOVERY_SECONDS = 3.5  # DDS repeats its announcements every 3 s


class PlantLink:
    """Judges every state before it passes it on; ``info_changed(new, old)`` tells of another session or
    commander."""

    def __init__(
        self,
        node: Node,
        on_state: Callable[[Judgement], None],
        info_changed: Callable[[PlantDescription, PlantDescription | None], None],
    ) -> None:
        self._node = node
        self._on_state, self._info_changed = on_state, info_changed
        self.sender = node.get_fully_qualified_name()
        self.info: PlantDescription | None = None
        self.rejections = Rejections()
        self.duplicates = 0
        self.state_rate, self.action_rate = Rate(), Rate()
        self._filter = TransitionFilter()
        self._actions = node.create_publisher(PlantAction, "action", qos.ACTION)
        node.create_subscription(PlantState, "state", self._take_state, qos.STATE)
        self._infos = node.create_subscription(PlantInfo, "plant_info", self._take_info, qos.LATCHED)
        self._reset_client: Any = None

    def connect_reset(self, service: str) -> None:
        """Choose the reset service; again after a change of its name."""
        if self._reset_client is not None:
            self._node.destroy_client(self._reset_client)
        self._reset_client = self._node.create_client(Reset, service)

    def wait_for_info(self, seconds: float) -> PlantDescription | None:
        """Block until the plant has introduced itself, at most ``seconds``; for the configuration only. Ends
        early when the process is asked to stop: nobody else looks at that while a callback runs."""
        deadline = time.monotonic() + seconds
        while self.info is None and time.monotonic() < deadline and not stop_requested():
            with self._infos.handle:
                taken = self._infos.handle.take_message(PlantInfo, False)
            if taken is None:
                time.sleep(_LOOK_SECONDS)
            else:
                self._take_info(taken[0])
        return self.info

    def wait_for_reset(self) -> None:
        """Block until the reset service is discovered, for the configuration only: a goal may come right
        after it. Not every plant has one."""
        deadline = time.monotonic() + _DISCOVERY_SECONDS
        while not (self._reset_client.service_is_ready() or stop_requested()):
            if time.monotonic() > deadline:
                return
            time.sleep(_LOOK_SECONDS)

    def send(self, session_id: str, rollout: int, step: int, command: Array) -> None:
        """Publish an action for ``step``."""
        if self._publish(ActionCommand(session_id, rollout, step, np.asarray(command), self.sender)):
            self.action_rate.add()

    def claim(self, session_id: str) -> None:
        """Take the command, or keep it."""
        self._publish(ActionCommand.without_action(Kind.CLAIM, session_id, self.sender))

    def release(self, session_id: str) -> None:
        """Give up the command."""
        self._publish(ActionCommand.without_action(Kind.RELEASE, session_id, self.sender))

    def _publish(self, action: ActionCommand) -> bool:
        """What is meant for a session that has ended concerns nobody."""
        if self.info is None or action.session_id != self.info.session_id:
            return False
        self._actions.publish(conversions.action_message(action, self._node.get_clock().now().to_msg()))
        return True

    def flush(self) -> None:
        """Wait until the plant has what was sent, so that a process may end."""
        self._actions.wait_for_all_acked(qos.ACKNOWLEDGEMENT)

    def reset(self, done: Callable[[str], None]) -> None:
        """The same system, at an initial state of the plant's choice; ``done`` gets '' or why it refused."""
        name = self._reset_client.srv_name
        if not self._reset_client.service_is_ready():
            done(f"no service {name} to reset the plant; start the plant or set reset_plant to false")
            return
        future = self._reset_client.call_async(Reset.Request())

        def answered(future: Future) -> None:
            response = future.result()
            done("" if response.success else f"{name} refused: {response.message}")

        future.add_done_callback(answered)

    def foreign_commander(self) -> str:
        """Who else commands the plant, '' if nobody."""
        commander = self.info.commander if self.info else ""
        return "" if commander == self.sender else commander

    def values(self, now: float) -> dict[str, object]:
        """For diagnostics."""
        return {
            "plant": self.info.plant if self.info else "",
            "mode": self.info.mode if self.info else "",
            "session": self.info.session_id if self.info else "",
            "commander": self.info.commander if self.info else "",
            "states_per_second": self.state_rate.report(now),
            "actions_per_second": self.action_rate.report(now),
            "duplicates": self.duplicates,
            **self.rejections.values(),
        }

    def _take_info(self, message: PlantInfo) -> None:
        try:
            info = conversions.info_from_message(message)
        except RejectedMessage as error:
            self._reject(error)
            return
        old, self.info = self.info, info
        if old is None or old.session_id != info.session_id:
            self._filter.begin_session(info.session_id)
        if info != old:
            self._info_changed(info, old)

    def _take_state(self, message: PlantState) -> None:
        if self.info is None:
            return
        try:
            sample = conversions.state_from_message(message, self.info.observation_dim, self.info.action_dim)
        except RejectedMessage as error:
            self._reject(error)
            return
        judgement = self._filter.judge(sample)
        if judgement.verdict in ACCOUNTED:
            self.rejections.add(judgement.verdict)
        self.duplicates += judgement.verdict is Verdict.DUPLICATE
        self.state_rate.add(judgement.fresh)
        if judgement.verdict is not Verdict.FOREIGN_SESSION:
            self._on_state(judgement)

    def _reject(self, error: RejectedMessage) -> None:
        self.rejections.add(error.reason)
        self._node.get_logger().warning(f"{error.reason.value}: {error}", throttle_duration_sec=1.0)


def mismatch(model: ContextModel, info: PlantDescription) -> str:
    """Why ``model`` cannot be used on this plant, '' if it can."""
    manifest = model.manifest
    facts = (
        ("plant", manifest.plant, info.plant),
        ("observation", manifest.state_names, info.observation_names),
        ("lower action bound", manifest.action_low, info.action_low),
        ("upper action bound", manifest.action_high, info.action_high),
        ("period", manifest.period, info.period),
    )
    for what, made_for, found in facts:
        same = made_for == found if isinstance(made_for, str) else _same(made_for, found)
        if not same:
            return (
                f"model {model.folder} was made for {what} {made_for!r}, the plant has {found!r}; "
                "choose the model of this plant with the parameter 'model'"
            )
    return ""


def _same(one: Any, other: Any) -> bool:
    """Equal names, or numbers equal up to rounding."""
    one, other = np.atleast_1d(one), np.atleast_1d(other)
    if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
        return False
    return bool((one == other).all() if one.dtype.kind == "U" else np.allclose(one, other, rtol=1e-6))
