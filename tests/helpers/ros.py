"""An in-process ROS graph: one context, one SingleThreadedExecutor, everything gone after the test.

::

    def test_something(graph: Graph) -> None:
        plant = graph.add(PlantNode(**graph.options(mode="lockstep")))
        listener = graph.node("listener")
        states = graph.collect(PlantState, "state", qos.STATE)
        graph.spin_until(lambda: states, what="a state")
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from tests.helpers.waiting import patience

T = TypeVar("T")
N = TypeVar("N", bound=Node)


class Graph:
    """Nodes that spin together in this thread; ``node`` is the test's own."""

    def __init__(self) -> None:
        self.context = Context()
        self.context.init()
        self.executor = SingleThreadedExecutor(context=self.context)
        self._nodes: list[Node] = []
        self.node = self.add(Node("test", **self.options()))

    def options(self, namespace: str = "", **parameters: Any) -> dict[str, Any]:
        """Keyword arguments for a Node of this graph; tuples and lists of floats are fine as parameters."""
        overrides = [
            Parameter(name, value=list(value) if isinstance(value, tuple) else value)
            for name, value in parameters.items()
        ]
        options: dict[str, Any] = {"context": self.context, "parameter_overrides": overrides}
        return {**options, "namespace": namespace} if namespace else options

    def add(self, node: N) -> N:
        self.executor.add_node(node)
        self._nodes.append(node)
        return node

    def remove(self, node: Node) -> None:
        self.executor.remove_node(node)
        self._nodes.remove(node)
        node.destroy_node()

    def collect(self, kind: type, topic: str, profile: Any = 10, node: Node | None = None) -> list[Any]:
        """A list that grows with every message."""
        messages: list[Any] = []
        (node or self.node).create_subscription(kind, topic, messages.append, profile)
        return messages

    def publisher(self, kind: type, topic: str, profile: Any = 10, subscribers: int = 1) -> Any:
        """A publisher that is already matched, so that its first message arrives."""
        publisher = self.node.create_publisher(kind, topic, profile)
        self.spin_until(
            lambda: publisher.get_subscription_count() >= subscribers, what=f"a subscriber of {topic}"
        )
        return publisher

    def call(self, kind: type, service: str, request: Any, timeout: float = 10.0) -> Any:
        client = self.node.create_client(kind, service)
        try:
            self.spin_until(client.service_is_ready, timeout, what=f"service {service}")
            future = client.call_async(request)
            self.spin_until(future.done, timeout, what=f"an answer of {service}")
            return future.result()
        finally:
            self.node.destroy_client(client)

    def spin_until(self, condition: Callable[[], T], timeout: float = 10.0, what: str = "the condition") -> T:
        """Spin until ``condition`` returns something true, and return that; fails at the deadline."""
        deadline = time.monotonic() + patience(timeout)
        while not (result := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"spun {timeout} s for {what} in vain")
            self.executor.spin_once(timeout_sec=0.02)
        return result

    def spin_for(self, seconds: float) -> None:
        """Only to show that something does not happen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def close(self) -> None:
        for node in reversed(self._nodes):
            self.executor.remove_node(node)
            node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()


@pytest.fixture
def graph() -> Iterator[Graph]:
    graph = Graph()
    try:
        yield graph
    finally:
        graph.close()
