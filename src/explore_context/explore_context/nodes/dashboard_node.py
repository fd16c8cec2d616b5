"""The live view in the browser: executable ``dashboard``.

Every namespace with a ``plant_info`` or ``context_belief`` topic becomes a tab of the page. Callbacks only
pass messages on; the web server has a thread of its own and tells the pages twenty times a second what
changed. Without ``control`` nothing on the graph can be changed from the page: the clients that could do so
do not even exist.
"""

from __future__ import annotations

import queue
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from explore_context.dashboard.commands import Command, Playback
from explore_context.dashboard.hub import Hub
from explore_context.dashboard.server import DashboardError, DashboardServer
from explore_context.nodes.dashboard_link import RobotControl, RobotLink
from explore_context.nodes.diagnostics import TOPIC, Diagnostics, Level, Report, steady_clock
from explore_context.nodes.lifecycle_watch import LifecycleWatch
from explore_context.nodes.parameters import NodeParameters, ParameterError, parameter
from explore_context.nodes.runtime import run_node

_TYPES = {
    "plant_info": "explore_context_interfaces/msg/PlantInfo",
    "context_belief": "explore_context_interfaces/msg/ContextBelief",
}
_DISCOVERY_PERIOD = 1.0


@dataclass(frozen=True)
class DashboardParameters:
    host: str = parameter(
        "127.0.0.1", "Address to serve on; the default is this machine only.", read_only=True
    )
    port: int = parameter(8765, "Port to serve on; 0: any free one.", low=0, high=65535, read_only=True)
    control: bool = parameter(
        False, "Let the page start and cancel calibrations and reset plants.", read_only=True
    )


class DashboardNode(Node):
    """Finds robots, follows them, carries out what the page asks for."""

    def __init__(self) -> None:
        super().__init__("dashboard")
        settings = NodeParameters(self, DashboardParameters).value
        self._hub = Hub({"kind": "live", "control": settings.control})
        self._links: dict[str, RobotLink] = {}
        self._controls: dict[str, RobotControl] = {}
        self._may_control = settings.control
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._wake = self.create_guard_condition(self._execute_commands)
        self._server = DashboardServer(
            self._hub, settings.host, settings.port, self if settings.control else None
        )
        try:
            self._server.start()
        except DashboardError as error:
            raise ParameterError(f"node {self.get_fully_qualified_name()}: {error}") from error
        self.create_subscription(DiagnosticArray, TOPIC, self._hub.post_diagnostics, 10)
        self._lifecycles = LifecycleWatch(self, self._hub.post_lifecycle)
        self.create_timer(_DISCOVERY_PERIOD, self._look_around, clock=steady_clock())
        self._diagnostics = Diagnostics(self, "dashboard", self._report)
        self._look_around()
        access = "with control" if settings.control else "read-only"
        self.get_logger().info(f"dashboard ({access}): {self._server.url}")

    def submit(self, command: Command) -> None:
        """From the server's thread: carry it out in the executor's."""
        self._commands.put(command)
        self._wake.trigger()

    def _execute_commands(self) -> None:
        while not self._commands.empty():
            command = self._commands.get()
            if isinstance(command, Playback) or command.robot not in self._controls:
                continue
            self._controls[command.robot].execute(command)

    def _look_around(self) -> None:
        for topic, types in self.get_topic_names_and_types():
            namespace, _, name = topic.rpartition("/")
            if _TYPES.get(name) in types:
                self._follow(namespace or "/")
        for namespace, link in self._links.items():
            self._hub.post(namespace, "online", link.online)
            self._hub.post(namespace, "calibrator", link.has_calibrator)
        for control in self._controls.values():
            control.check()
        self._lifecycles.poll()

    def _follow(self, namespace: str) -> None:
        if namespace in self._links:
            return
        self._links[namespace] = RobotLink(self, namespace, self._hub)
        if self._may_control:
            self._controls[namespace] = RobotControl(self, namespace, self._hub)
        self.get_logger().info(f"following the robot in {namespace}")

    def _report(self) -> Report:
        refused = self._hub.refused
        return Report(
            f"serving; {refused} messages made no sense" if refused else "serving",
            {
                "url": self._server.url,
                "access": "control" if self._may_control else "read-only",
                "pages": self._server.clients,
                "robots": len(self._links),
                "refused": refused,
            },
            Level.WARN if refused else Level.OK,
        )

    def stop(self) -> None:
        self._server.stop()


def main(args: Sequence[str] | None = None) -> int:
    return run_node(DashboardNode, args)


if __name__ == "__main__":
    sys.exit(main())
