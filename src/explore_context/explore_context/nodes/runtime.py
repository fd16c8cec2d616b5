"""How every node of this project starts, spins and ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from explore_context.nodes.parameters import ParameterError
from explore_context.nodes.shared_memory import remove_leftovers

# Signals are seen between two waits of the executor, so this bounds the reaction time.
_WAIT = 0.1


class _StopFlag:
    def __init__(self) -> None:
        self.requested = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        self.requested = True


_stop = _StopFlag()


def stop_requested() -> bool:
    """Whether the process was asked to end: whoever blocks the executor looks here now and then."""
    return _stop.requested


def run_node(factory: Callable[[], Node], args: Sequence[str] | None = None) -> int:
    """Make one node and spin it until SIGINT, SIGTERM or its own wish; returns the process's exit code.

    rclpy's own signal handlers close the context before a node could say good-bye, so they are not installed.
    Instead:

    - a node with a method ``stop()`` has it called once, with the graph still alive (publish the zero action
      there);
    - a node ends by itself by setting its attribute ``exit_code`` (an int);
    - a node that cannot start because of its parameters (:class:`ParameterError`) prints one line and exits
      with 2.

    What killed nodes left in shared memory is removed first.
    """
    _stop_on_signals()
    remove_leftovers()
    rclpy.init(args=list(args) if args is not None else None, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = factory()
    except ParameterError as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        rclpy.try_shutdown()
        return 2
    try:
        return _spin(node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _spin(node: Node) -> int:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        while not _stop.requested and getattr(node, "exit_code", None) is None:
            executor.spin_once(timeout_sec=_WAIT)
    except ExternalShutdownException:
        return 0
    finally:
        if rclpy.ok() and hasattr(node, "stop"):
            node.stop()
        executor.shutdown(timeout_sec=0.0)
    return int(getattr(node, "exit_code", None) or 0)


def _stop_on_signals() -> None:
    """The handlers stay for the rest of the process: Ctrl-C and launch both signal, and the second must not
    hurt."""
    _stop.requested = False
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
