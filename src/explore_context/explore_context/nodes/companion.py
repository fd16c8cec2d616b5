"""Whether a lifecycle node that works for somebody is still there: a killed one breaks no promise aloud."""

from __future__ import annotations

import time
from typing import Any

from lifecycle_msgs.srv import GetState
from rclpy.node import Node

_ASK_SECONDS = 1.0
# A starved machine takes seconds to answer; DDS believes in a dead process for twenty.
_SILENCE_SECONDS = 15.0


class Companion:
    """Asks an active node for its state, again and again, for as long as :meth:`problem` is called."""

    def __init__(self, node: Node, name: str) -> None:
        self._node, self._name = node, name
        self._client = node.create_client(GetState, f"{name}/get_state")
        self._asked: Any = None
        self._heard = time.monotonic()
        self._asked_at = 0.0
        self._state = "active"

    def problem(self) -> str:
        """'' while it answers that it is active, else what became of it."""
        now = time.monotonic()
        if self._asked is not None and self._asked.done():
            self._state, self._heard = self._asked.result().current_state.label, now
            self._asked = None
        if self._state != "active":
            return f"{self._name} is not active any more but {self._state}: it was restarted or deactivated"
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

    def close(self) -> None:
        self._node.destroy_client(self._client)
