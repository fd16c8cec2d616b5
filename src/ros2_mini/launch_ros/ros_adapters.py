"""The launch's own node, for lifecycle services and topics."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from launch.event_handlers import OnShutdown
from launch.launch_context import LaunchContext

if TYPE_CHECKING:
    from rclpy.node import Node


class ROSAdapter:
    """A node that spins in a thread from the first use to the end of the launch."""

    def __init__(self) -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        self.__context = rclpy.Context()
        # signals are the launch's business
        rclpy.init(args=[], context=self.__context, signal_handler_options=SignalHandlerOptions.NO)
        self.__node = rclpy.create_node(
            f"launch_ros_{os.getpid()}", context=self.__context, start_parameter_services=False
        )
        self.__executor = SingleThreadedExecutor(context=self.__context)
        self.__executor.add_node(self.__node)
        self.__running = True
        self.__thread = threading.Thread(target=self.__spin, name="launch_ros", daemon=True)
        self.__thread.start()

    @property
    def ros_node(self) -> Node:
        return self.__node

    def __spin(self) -> None:
        from rclpy.executors import ExternalShutdownException

        try:
            while self.__running:
                self.__executor.spin_once(timeout_sec=1.0)
        except ExternalShutdownException:
            pass

    def run_in_spin_thread(self, function: Callable[[], Any]) -> Any:
        """Call a function where nothing waits on the node's entities meanwhile."""
        done = threading.Event()
        task = self.__executor.create_task(function)
        task.add_done_callback(lambda _: done.set())
        if not done.wait(timeout=10.0):
            raise RuntimeError("the launch's own node does not answer; is the machine overloaded?")
        if task.exception() is not None:
            raise task.exception()
        return task.result()

    def shutdown(self) -> None:
        import rclpy

        if not self.__running:
            return
        self.__running = False
        self.__executor.wake()
        self.__thread.join(timeout=5.0)
        self.__executor.shutdown(timeout_sec=1.0)
        self.__node.destroy_node()
        rclpy.shutdown(context=self.__context)


def get_ros_adapter(context: LaunchContext) -> ROSAdapter:
    """The adapter of this launch, made at the first call."""
    adapter = context.get_locals_as_dict().get("ros_adapter")
    if adapter is None:
        adapter = ROSAdapter()
        context.extend_globals({"ros_adapter": adapter})
        context.register_event_handler(OnShutdown(on_shutdown=lambda event, context: adapter.shutdown()))
    return adapter


def get_ros_node(context: LaunchContext) -> Node:
    return get_ros_adapter(context).ros_node
