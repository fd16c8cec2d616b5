"""Records every topic of a run to MCAP: executable ``recorder``.

Messages are written as they come. Topics that every run has are listened to from the start, before anybody
publishes, so that the first state is not missed; all others once they are discovered. When the disk refuses,
recording stops with an error in the log and in the diagnostics, and that is all: the node stays, and nobody
else notices.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Bool

from explore_context.nodes import qos
from explore_context.nodes.diagnostics import Diagnostics, Level, Report, steady_clock
from explore_context.nodes.parameters import NodeParameters, parameter
from explore_context.nodes.run_facts import RunFacts
from explore_context.nodes.runtime import run_node
from explore_context.nodes.topic_tap import (
    Track,
    demands_more,
    is_wanted,
    matching_qos,
    message_class,
    offered_qos_yaml,
    recording_qos,
    track_of,
)
from explore_context.recording.definitions import Definition, DefinitionError, find_definition
from explore_context.recording.files import recording_path
from explore_context.recording.writer import RecordingError, RecordingWriter

_INTERFACES = "explore_context_interfaces"
_EXPECTED = {
    "state": (f"{_INTERFACES}/msg/PlantState", False),
    "action": (f"{_INTERFACES}/msg/PlantAction", False),
    "plant_info": (f"{_INTERFACES}/msg/PlantInfo", True),
    "context_belief": (f"{_INTERFACES}/msg/ContextBelief", True),
    "joint_states": ("sensor_msgs/msg/JointState", False),
    "/diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", False),
    "calibrator/calibrate/_action/feedback": (f"{_INTERFACES}/action/Calibrate_FeedbackMessage", False),
    "calibrator/calibrate/_action/status": ("action_msgs/msg/GoalStatusArray", True),
    "calibrator/transition_event": ("lifecycle_msgs/msg/TransitionEvent", False),
}
"""Topic -> (type, latched)."""

_DISCOVERY_PERIOD = 0.5
_FLUSH_PERIOD = 1.0


@dataclass(frozen=True)
class RecorderParameters:
    path: str = parameter(
        "",
        "File (.mcap) or folder ('': the current one) to record to; a folder gets a file named by time.",
        read_only=True,
    )
    extra_topics: tuple[str, ...] = parameter(
        ("/diagnostics", "/rosout", "/clock"),
        "Topics outside the namespace to record as well.",
        read_only=True,
    )


class RecorderNode(Node):
    """Subscribes, writes, reports."""

    def __init__(self) -> None:
        super().__init__("recorder")
        settings = NodeParameters(self, RecorderParameters).value
        self._extra = settings.extra_topics
        self._writer: RecordingWriter | None = None
        self._taps: dict[str, Any] = {}
        self._tracks: dict[str, Track] = {}
        self._refused: set[str] = set()
        self._sequences: dict[str, int] = {}
        self._problem = ""
        self._chores: list[Any] = []
        # Latched, once: true when plant and calibrator are heard, false when nothing will be recorded.
        self._ready = self.create_publisher(Bool, "~/ready", qos.LATCHED)
        self._told = False
        self._facts = RunFacts(self, self._write_facts)
        self._diagnostics = Diagnostics(self, "recorder", self._report)
        self._path = Path(settings.path or ".")
        self._guarded(lambda: self._begin(settings.path))

    def _begin(self, path: str) -> None:
        self._path = recording_path(path)
        self._writer = RecordingWriter(self._path)
        self._writer.add_metadata(self._facts.facts)
        for name, (type_name, latched) in _EXPECTED.items():
            self._listen(self.resolve_topic_name(name), type_name, recording_qos(latched=latched))
        for period, work in ((_DISCOVERY_PERIOD, self._discover), (_FLUSH_PERIOD, self._flush)):
            self._chores.append(self.create_timer(period, work, clock=steady_clock()))
        self.get_logger().info(f"recording to {self._path}")

    def _discover(self) -> None:
        for topic, types in self.get_topic_names_and_types():
            if not is_wanted(topic, self.get_namespace(), self._extra):
                continue
            profile = matching_qos(self, topic)
            if profile is None:
                continue
            tap = self._taps.get(topic)
            if tap is not None and demands_more(tap.qos_profile, profile):
                self.destroy_subscription(tap)  # a publisher has come that cannot serve it
                tap = None
            if tap is None:
                self._listen(topic, types[0], profile)
        self._facts.ask()

    def _listen(self, topic: str, type_name: str, profile: Any) -> None:
        if topic in self._refused:
            return
        try:
            kind = message_class(type_name)
        except LookupError as error:
            self._refused.add(topic)
            self.get_logger().warning(f"{topic} is not recorded: {error}")
            return
        self._tracks[topic] = track_of(topic, type_name)
        self._taps[topic] = self.create_subscription(
            kind, topic, lambda data, info: self._on_message(topic, data, info), profile, raw=True
        )

    def _on_message(self, topic: str, data: bytes, info: dict[str, int]) -> None:
        self._guarded(lambda: self._write(topic, data, info))

    def _write(self, topic: str, data: bytes, info: dict[str, int]) -> None:
        writer = self._writer
        if writer is None:
            return
        track = self._tracks[topic]
        if not writer.has_topic(track.topic):
            writer.add_topic(track.topic, self._definition(track.type_name), offered_qos_yaml(self, topic))
        received = info.get("received_timestamp") or time.time_ns()
        sequence = self._sequences[topic] = self._sequences.get(topic, -1) + 1
        published = info.get("source_timestamp") or received
        writer.write(track.topic, track.data(data), received, published, sequence)
        self._facts.on_message(topic, data)

    def _definition(self, type_name: str) -> Definition:
        try:
            return find_definition(type_name)
        except DefinitionError as error:
            self.get_logger().warning(f"{type_name} is recorded without its definition: {error}")
            return Definition(type_name, "")

    def _write_facts(self, facts: dict[str, str]) -> None:
        if (writer := self._writer) is not None:
            self._guarded(lambda: writer.add_metadata(facts))
            if {"plant", "model_hash"} <= facts.keys():
                self._tell_ready(True)

    def _tell_ready(self, ready: bool) -> None:
        if not self._told:
            self._told = True
            self._ready.publish(Bool(data=ready))

    def _flush(self) -> None:
        if (writer := self._writer) is not None:
            self._guarded(writer.flush)

    def _guarded(self, work: Callable[[], Any]) -> None:
        """The disk's troubles end here."""
        try:
            work()
        except RecordingError as error:
            self._problem = str(error)
            self.get_logger().error(self._problem)
            self._end()
            self._tell_ready(False)
            self._diagnostics.publish()

    def _end(self) -> None:
        self._writer = None
        for timer in self._chores:
            self.destroy_timer(timer)
        for subscription in self._taps.values():
            self.destroy_subscription(subscription)
        self._chores.clear()
        self._taps.clear()

    def _report(self) -> Report:
        writer = self._writer
        if writer is None:
            return Report(self._problem or "not recording", {"file": self._path}, Level.ERROR)
        return Report(
            "recording",
            {
                "file": self._path,
                "messages": writer.messages,
                "topics": len(self._sequences),
                "kilobytes": writer.size // 1000,
                "free_megabytes": _free_megabytes(self._path.parent),
            },
        )

    def stop(self) -> None:
        """Write the index; whatever arrives later is not part of the run."""
        writer = self._writer
        if writer is None:
            return
        self._guarded(writer.close)
        if not self._problem:
            self.get_logger().info(f"recorded {writer.messages} messages to {self._path}")


def _free_megabytes(folder: Path) -> object:
    """Unknown once the folder is gone, which the open file survives."""
    try:
        return shutil.disk_usage(folder).free // 10**6
    except OSError:
        return "unknown"


def main(args: Sequence[str] | None = None) -> int:
    return run_node(RecorderNode, args)


if __name__ == "__main__":
    sys.exit(main())
