"""Reading recordings of this project and of ``ros2 bag``: MCAP and SQLite files, and folders of either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from mcap.reader import make_reader
from rosbags.highlevel import AnyReader, AnyReaderError
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from explore_context.recording.definitions import DefinitionError, find_definition
from explore_context.recording.writer import METADATA_NAME, SUFFIX, RecordingError

STATE = "explore_context_interfaces/msg/PlantState"
INFO = "explore_context_interfaces/msg/PlantInfo"
BELIEF = "explore_context_interfaces/msg/ContextBelief"
FEEDBACK = "explore_context_interfaces/action/Calibrate_Feedback"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
TRANSITION_EVENT = "lifecycle_msgs/msg/TransitionEvent"


@dataclass(frozen=True)
class RecordedMessage:
    """``time`` in nanoseconds since the epoch; ``message`` has the attributes of the ROS message."""

    topic: str
    type_name: str
    time: int
    message: Any


class Recording:
    """A recording, open for reading::

    with Recording(path) as recording:
        for item in recording.messages([STATE]): ...
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._stack = ExitStack()

    def __enter__(self) -> Recording:
        if not self.path.exists():
            raise RecordingError(f"{self.path}: no such recording")
        try:
            reader = AnyReader([self.path], default_typestore=_fallback_typestore(self.path))
            self._reader = self._stack.enter_context(reader)
        except (
            AnyReaderError,
            FileNotFoundError,
            ValueError,
            AssertionError,
            IndexError,
            TypeError,
        ) as error:
            raise RecordingError(f"{self.path}: {_explain(self.path, error)}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def topics(self) -> dict[str, tuple[str, int]]:
        """Topic -> (type, number of messages)."""
        return {
            connection.topic: (connection.msgtype, connection.msgcount)
            for connection in self._reader.connections
        }

    @property
    def start(self) -> int:
        """Time of the first message, nanoseconds since the epoch."""
        return int(self._reader.start_time)

    @property
    def duration(self) -> int:
        """Nanoseconds from the first message to the last."""
        return max(0, int(self._reader.duration) - 1)

    def messages(self, type_names: Sequence[str]) -> Iterator[RecordedMessage]:
        """All messages of these types, in the order in which they were recorded."""
        connections = [c for c in self._reader.connections if c.msgtype in type_names]
        if not connections:
            return
        try:
            for connection, time, data in self._reader.messages(connections=connections):
                message = self._reader.deserialize(data, connection.msgtype)
                yield RecordedMessage(connection.topic, connection.msgtype, time, message)
        except Exception as error:  # damage shows as whatever the decompressor or the parser makes of it
            raise RecordingError(f"{self.path}: {_explain(self.path, error)}") from error


def recording_facts(path: Path | str) -> dict[str, str]:
    """The metadata record of a recording of ours: model hash, plant, seed, versions; empty for others."""
    if Path(path).suffix != SUFFIX:
        return {}
    facts: dict[str, str] = {}
    with Path(path).open("rb") as stream:
        for record in make_reader(stream).iter_metadata():
            if record.name == METADATA_NAME:
                facts.update(record.metadata)
    return facts


def _fallback_typestore(path: Path) -> Any:
    """For recordings without definitions, as ``ros2 bag`` wrote them to SQLite before ROS 2 Iron."""
    if path.suffix == SUFFIX or any(path.glob(f"*{SUFFIX}")):
        return None
    store = get_typestore(Stores.ROS2_JAZZY)
    for name in (STATE, INFO, BELIEF):
        try:
            types = get_types_from_msg(find_definition(name).text, name)
        except DefinitionError:
            continue
        store.register({key: value for key, value in types.items() if key not in store.fielddefs})
    return store


def _explain(path: Path, error: Exception) -> str:
    if path.suffix == SUFFIX:
        return f"not a complete recording ({error}); try: explore-context recover {path}"
    return f"not readable as a recording ({error}); give an .mcap or .db3 file or the folder of a ros2 bag"
