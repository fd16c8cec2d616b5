"""Diagnostics at 1 Hz for any node, lifecycle nodes included.

::

    self._diagnostics = Diagnostics(self, "plant", self._report)

    def _report(self) -> Report:
        return Report("running", values={"mode": "lockstep", **self._rejections.values()})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

TOPIC = "/diagnostics"
PERIOD = 1.0


class Level(Enum):
    OK = DiagnosticStatus.OK
    WARN = DiagnosticStatus.WARN
    ERROR = DiagnosticStatus.ERROR
    STALE = DiagnosticStatus.STALE


@dataclass(frozen=True)
class Report:
    """One line for a human and the numbers behind it."""

    message: str
    values: Mapping[str, object] = field(default_factory=dict)
    level: Level = Level.OK


class Diagnostics:
    """Asks ``collect`` once a second and publishes the answer as ``<node>: <what>``.

    The timer runs on the steady clock, so that a stopped or jumping simulation clock does not silence it; the
    stamp is the node's time.
    """

    def __init__(self, node: Node, what: str, collect: Callable[[], Report]) -> None:
        self._node = node
        self._collect = collect
        self._name = f"{node.get_fully_qualified_name().lstrip('/')}: {what}"
        # Not a lifecycle publisher: an inactive node reports too.
        self._publisher = node.create_publisher(DiagnosticArray, TOPIC, 10)
        self._timer = node.create_timer(PERIOD, self.publish, clock=steady_clock())

    def publish(self) -> None:
        report = self._collect()
        status = DiagnosticStatus(
            level=report.level.value,
            name=self._name,
            message=report.message,
            hardware_id=self._node.get_name(),
            values=[KeyValue(key=key, value=text(value)) for key, value in report.values.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)


def steady_clock() -> Clock:
    """The clock that nobody can stop, for housekeeping timers."""
    return Clock(clock_type=ClockType.STEADY_TIME)


def control_clock(node: Node) -> Clock:
    """What a control period runs on: simulated time where the node was started with it, else a clock that
    nobody can set. A system clock that is set back by a minute stops the node's timers for as long."""
    simulated: bool = node.get_parameter("use_sim_time").value
    return node.get_clock() if simulated else steady_clock()


def text(value: object) -> str:
    """Numbers in four digits, everything else as it prints."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
