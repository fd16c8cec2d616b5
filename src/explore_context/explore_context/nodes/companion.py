"""Whether a lifecycle node that works for somebody still does: a killed one breaks no promise aloud, and one
that gave up stays active and says so on ``/diagnostics`` only."""

from __future__ import annotations

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.srv import GetState
from rclpy.node import Node

from explore_context.nodes.diagnostics import TOPIC
from explore_context.nodes.namesakes import full_name

_ASK_SECONDS = 1.0
# A starved machine takes seconds to answer; DDS believes in a dead process for twenty.
_SILENCE_SECONDS = 15.0


class Companion:
    """Asks an active node for its state, again and again, for as long as :meth:`problem` is called."""

    def __init__(self, node: Node, name: str) -> None:
        self._node, self._name = node, name
        self._client = node.create_client(GetState, f"{name}/get_state")
        self._reports = node.create_subscription(DiagnosticArray, TOPIC, self._on_diagnostics, 10)
        self._complaint = ""
        self._asked: Any = None
        self._heard = time.monotonic()
        self._asked_at = 0.0
        self._state = "active"

    def problem(self) -> str:
        """'' while it answers that it is active and reports no error, else what became of it."""
        now = time.monotonic()
        if self._asked is not None and self._asked.done():
            self._state, self._heard = self._asked.result().current_state.label, now
            self._asked = None
        if self._state != "active":
            return f"{self._name} is not active any more but {self._state}: it was restarted or deactivated"
        if self._complaint:
            return f"{self._name}: {self._complaint}"
        if now - self._heard > _SILENCE_SECONDS:
            return f"{self._name} has not answered for {_SILENCE_SECONDS:g} s: it died or hangs"
        if now - self._asked_at > _ASK_SECONDS:
            self._ask(now)
        return ""

    def _ask(self, now: float) -> None:
        """A question to a predecessor that died gets lost, so it is asked anew."""
        if self._asked is not None:
            self._client.remove_pending_request(self._asked)
        self._asked = self._client.call_async(GetState.Request()) if self._client.service_is_ready() else None
        self._asked_at = now

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        name = full_name(self._node, self._name).lstrip("/")
        for status in message.status:
            if status.name.startswith(f"{name}: "):
                self._complaint = status.message if status.level == DiagnosticStatus.ERROR else ""

    def close(self) -> None:
        self._node.destroy_subscription(self._reports)
        self._node.destroy_client(self._client)
