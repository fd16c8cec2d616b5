"""A short-lived node, and calls of services with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ros2_mini.errors import CommandError
from ros2_mini.observers import observing

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.task import Future


@contextmanager
def graph_node(*, handle_signals: bool = True, name: str = "") -> Iterator[Node]:
    """A hidden node; without ``handle_signals`` Ctrl-C is a KeyboardInterrupt and the node lives on."""
    _skip_generators()
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from rclpy.signals import SignalHandlerOptions

    options = SignalHandlerOptions.ALL if handle_signals else SignalHandlerOptions.NO
    rclpy.init(args=[], signal_handler_options=options)
    node = rclpy.create_node(
        name or f"_ros2cli_{os.getpid()}", start_parameter_services=False, enable_rosout=False
    )
    try:
        yield node
    except ExternalShutdownException as error:
        raise KeyboardInterrupt from error
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _skip_generators() -> None:
    """Messages are not generated here: without this import, commands start a fifth faster."""
    sys.modules.setdefault("rosidl_generator_py.generate_py_impl", None)  # type: ignore[arg-type]


def is_hidden(name: str) -> bool:
    """Whether a token of a topic's, service's or node's name begins with ``_``."""
    return any(token.startswith("_") for token in name.split("/"))


def expand(name: str) -> str:
    """Absolute name."""
    return name if name.startswith("/") else f"/{name}"


def require_node(node: Node, name: str) -> str:
    """Absolute name of a node that must be there."""
    full_name = expand(name)
    with observing(node) as view:
        if not view.settle(lambda: full_name in view.node_names(hidden=True)):
            raise CommandError("Node not found")
    return full_name


def spin_until(node: Node, future: Future, alive: Callable[[], bool] = lambda: True) -> Any:
    """Result of a future; its exception is raised, and CommandError if who should answer has gone."""
    import rclpy

    silent = 0
    while not future.done():
        rclpy.spin_until_future_complete(node, future, timeout_sec=0.2)
        silent = 0 if alive() else silent + 1
        if silent > 10:  # discovery may lose sight for a moment
            raise CommandError("the other side has gone away without an answer")
    return future.result()


def call(node: Node, service_type: Any, name: str, request: Any, timeout: float = 5.0) -> Any:
    """Response of a service that must be there within ``timeout`` seconds."""
    client = node.create_client(service_type, name)
    try:
        if not client.wait_for_service(timeout_sec=timeout):
            raise CommandError(f"service '{name}' does not answer")
        return spin_until(node, client.call_async(request), client.service_is_ready)
    finally:
        node.destroy_client(client)
