"""The ROS graph as several participants see it.

There is no daemon, so every command discovers the graph anew. Fast DDS finds another process either within
0.2 s or, when the first handshake of the two crosses, with the next heartbeat up to 3 s later. Two remedies:
several observers join, whose handshakes are independent, and the ports that participants on this machine
have open tell how many there are to be found.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rclpy.node import Node

#: seconds: the longest wait; how long nothing changes in a complete view, and in one that may be incomplete
LIMIT, QUIET_COMPLETE, QUIET = 3.2, 0.1, 0.4
_FIRST, _MOST, _ADD_AFTER, _POLL = 2, 5, 0.35, 0.03
NamesAndTypes = list[tuple[str, list[str]]]


def local_participants(domain: int) -> int:
    """Number of DDS participants of a domain on this machine; 0 if that cannot be known.

    By the RTPS standard, participant i of domain d listens on UDP port 7400 + 250 d + 10 + 2 i.
    """
    first = 7400 + 250 * domain + 10
    ports: set[int] = set()
    for table in (Path("/proc/net/udp"), Path("/proc/net/udp6")):
        if table.exists():
            rows = table.read_text(encoding="ascii").splitlines()[1:]
            ports.update(int(row.split()[1].rpartition(":")[2], 16) for row in rows)
    return sum(first <= port < first + 240 and (port - first) % 2 == 0 for port in ports)


class Observers:
    """Nodes, topics and services that any of the observers knows."""

    def __init__(self, node: Node) -> None:
        self._nodes = [node]
        self._only_here = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "").upper() == "LOCALHOST"

    def _add(self) -> None:
        import rclpy
        from rclpy.signals import SignalHandlerOptions

        context = rclpy.Context()
        rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
        name = f"_ros2cli_{os.getpid()}_{len(self._nodes)}"
        self._nodes.append(
            rclpy.create_node(name, context=context, start_parameter_services=False, enable_rosout=False)
        )

    def close(self) -> None:
        """End all observers but the first, which belongs to the caller."""
        while len(self._nodes) > 1:
            node = self._nodes.pop()
            node.destroy_node()
            node.context.try_shutdown()

    def settle(self, until: Callable[[], bool] = lambda: False) -> bool:
        """Wait until nothing is left to discover, or until a condition holds, which is returned."""
        start = changed = time.monotonic()
        previous: Any = None
        while not until():
            now = time.monotonic()
            if not self._nodes[0].context.ok():
                raise KeyboardInterrupt
            if len(self._nodes) < min(_FIRST + int((now - start) / _ADD_AFTER), _MOST):
                self._add()
            state = (self.node_names(), self.topics(), self.services())
            if state != previous:
                previous, changed = state, now
            if now - start > LIMIT or self._is_settled(now - changed):
                return until()
            time.sleep(_POLL)
        return True

    def _is_settled(self, quiet: float) -> bool:
        expected = local_participants(self._nodes[0].context.get_domain_id())
        found = len(self._participants())
        if expected and found < expected:
            return False
        complete = self._only_here and expected > 0
        return quiet >= (QUIET_COMPLETE if complete else QUIET)

    def _participants(self) -> set[bytes]:
        """Participants that are known, by the first twelve bytes of their endpoints' ids."""
        endpoints = [
            endpoint
            for node in self._nodes
            for endpoint in node.get_publishers_info_by_topic("/parameter_events")
        ]
        return {bytes(endpoint.endpoint_gid[:12]) for endpoint in endpoints if _is_named(endpoint)}

    def node_names(self, *, hidden: bool = False) -> list[str]:
        """Full names of all nodes but the observers, sorted; a name that is there twice is listed twice."""
        own = {(node.get_name(), node.get_namespace()) for node in self._nodes}
        views = [
            [pair for pair in node.get_node_names_and_namespaces() if pair not in own] for node in self._nodes
        ]
        pairs = {pair: max(view.count(pair) for view in views) for view in views for pair in view}
        return sorted(
            f"{namespace.rstrip('/')}/{name}"
            for (name, namespace), count in pairs.items()
            for _ in range(count)
            if hidden or not name.startswith("_")
        )

    def topics(self) -> NamesAndTypes:
        return _union(node.get_topic_names_and_types() for node in self._nodes)

    def services(self) -> NamesAndTypes:
        return _union(node.get_service_names_and_types() for node in self._nodes)

    def actions(self) -> NamesAndTypes:
        from rclpy.action import get_action_names_and_types

        return _union(get_action_names_and_types(node) for node in self._nodes)

    def of_node(self, function: Callable[..., NamesAndTypes], name: str, namespace: str) -> NamesAndTypes:
        """What ``function(observer, name, namespace)`` lists for a node."""
        from rclpy.impl.implementation_singleton import rclpy_implementation
        from rclpy.node import NodeNameNonExistentError

        views = []
        for node in self._nodes:
            try:
                views.append(function(node, name, namespace))
            except (NodeNameNonExistentError, rclpy_implementation.RCLError):
                continue  # this observer does not know the node (yet)
        return _union(iter(views))

    def publishers(self, topic: str) -> list[Any]:
        return self._endpoints([node.get_publishers_info_by_topic(topic) for node in self._nodes])

    def subscriptions(self, topic: str) -> list[Any]:
        return self._endpoints([node.get_subscriptions_info_by_topic(topic) for node in self._nodes])

    @staticmethod
    def _endpoints(views: list[list[Any]]) -> list[Any]:
        """Each endpoint once, preferably from an observer that knows whose it is."""
        infos = sorted((info for view in views for info in view), key=_is_named)
        return list({bytes(info.endpoint_gid): info for info in infos}.values())


def _is_named(info: Any) -> bool:
    """Whether the node of an endpoint is known: that arrives after the endpoint itself."""
    return info.node_name != "_NODE_NAME_UNKNOWN_"


def _union(views: Iterator[NamesAndTypes]) -> NamesAndTypes:
    found: dict[str, set[str]] = {}
    for view in views:
        for name, types in view:
            found.setdefault(name, set()).update(types)
    return sorted((name, sorted(types)) for name, types in found.items())


@contextmanager
def observed() -> Iterator[Observers]:
    """Observers for the time of a command."""
    from ros2_mini.graph import graph_node

    with graph_node() as node, observing(node) as view:
        yield view


@contextmanager
def observing(node: Node) -> Iterator[Observers]:
    """Observers besides a node that is there already."""
    view = Observers(node)
    try:
        yield view
    finally:
        view.close()
