"""The life-cycle states of all managed nodes on the graph, asked for at a leisurely rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle_msgs.srv import GetState
from rclpy.node import Node

_TYPE = "lifecycle_msgs/srv/GetState"
_SERVICE = "/get_state"


class LifecycleWatch:
    """``poll`` asks every node with a ``get_state`` service; ``tell(node, state)`` gets the answers, '' for
    silence."""

    def __init__(self, node: Node, tell: Callable[[str, str], None]) -> None:
        self._node, self._tell = node, tell
        self._clients: dict[str, Any] = {}
        self._asked: dict[str, Any] = {}

    def poll(self) -> None:
        for service, types in self._node.get_service_names_and_types():
            if _TYPE in types and service.endswith(_SERVICE):
                self._ask(service.removesuffix(_SERVICE), service)

    def _ask(self, name: str, service: str) -> None:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(GetState, service)
        client, waiting = self._clients[name], self._asked.pop(name, None)
        if waiting is not None and not waiting.done():
            client.remove_pending_request(waiting)
            self._tell(name, "")
        if not client.service_is_ready():
            self._tell(name, "")
            return
        future = self._asked[name] = client.call_async(GetState.Request())
        future.add_done_callback(lambda done: self._tell(name, done.result().current_state.label))
