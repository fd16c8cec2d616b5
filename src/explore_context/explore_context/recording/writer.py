"""Writing MCAP as rosbag2 lays it out: profile ``ros2``, CDR, ``ros2msg`` schemas, QoS in the channels.

Chunks are closed by :meth:`RecordingWriter.flush`, once a second, so that a killed recorder loses a second at
most. Every failure of the disk raises :class:`RecordingError` once; from then on the writer does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcap.writer import CompressionType, Writer

from explore_context.recording.definitions import Definition

METADATA_NAME = "explore_context"
SUFFIX = ".mcap"
_CHUNK_SIZE = 512 * 1024


class RecordingError(OSError):
    """A recording cannot be written or read; the text names the file and the remedy."""


class RecordingWriter:
    """One MCAP file under way."""

    def __init__(self, path: Path, library: str = "explore_context", *, overwrite: bool = False) -> None:
        """Create ``path`` and its folder; an existing file is refused unless ``overwrite``."""
        self.path = path
        self.messages = 0
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._file: _Output | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _Output(path, overwrite)
            self._writer = _FlushableWriter(
                self._file, _CHUNK_SIZE, CompressionType.ZSTD, enable_data_crcs=True
            )
            self._writer.start(profile="ros2", library=library)
        except OSError as error:
            self._abandon()
            raise RecordingError(f"{path}: cannot record: {_reason(error)}") from error

    @property
    def is_open(self) -> bool:
        return self._file is not None

    @property
    def size(self) -> int:
        """Bytes on disk so far."""
        return self._file.tell() if self._file is not None else 0

    def has_topic(self, topic: str) -> bool:
        return topic in self._channels

    def add_topic(self, topic: str, definition: Definition, offered_qos: str = "") -> None:
        """Announce a topic; ``offered_qos`` is rosbag2's YAML list of QoS profiles."""
        name = definition.type_name
        if name not in self._schemas:
            encoding = "ros2msg" if definition.text else ""
            self._schemas[name] = self._guarded("register_schema", name, encoding, definition.text.encode())
        metadata = {"offered_qos_profiles": offered_qos}
        if definition.type_hash:
            metadata["topic_type_hash"] = definition.type_hash
        self._channels[topic] = self._guarded("register_channel", topic, "cdr", self._schemas[name], metadata)

    def write(self, topic: str, data: bytes, log_time: int, publish_time: int, sequence: int = 0) -> None:
        """Add one serialized message of an announced topic; times in nanoseconds since the epoch."""
        self._guarded("add_message", self._channels[topic], log_time, data, publish_time, sequence)
        self.messages += 1

    def add_metadata(self, facts: Mapping[str, str]) -> None:
        """Add the record of what this run is; a later record of the same name adds to an earlier one."""
        self._guarded("add_metadata", METADATA_NAME, dict(facts))

    def flush(self) -> None:
        """Bring everything written so far to the file."""
        self._guarded("close_chunk")

    def close(self) -> None:
        """Write the index and close the file; harmless after a failure and when called again."""
        if self._file is None:
            return
        self._guarded("finish")
        self._abandon()

    def _guarded(self, method: str, *arguments: Any) -> Any:
        if self._file is None:
            raise RecordingError(f"{self.path}: the recording has ended")
        try:
            return getattr(self._writer, method)(*arguments)
        except OSError as error:
            self._abandon()
            raise RecordingError(
                f"{self.path}: recording stopped after {self.messages} messages: {_reason(error)}; "
                f"make whole what was written with: explore-context recover {self.path}"
            ) from error

    def _abandon(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None


class _FlushableWriter(Writer):
    def close_chunk(self) -> None:
        """End the chunk under way now instead of at its full size.

        The base class has no public way to do so; its version is pinned and a test watches over this.
        """
        self._Writer__finalize_chunk()


class _Output:
    """A file without a buffer: after a failed write nothing is left that would fail again on closing."""

    def __init__(self, path: Path, overwrite: bool) -> None:
        self._descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if overwrite else os.O_EXCL), 0o644
        )
        self._size = 0

    def write(self, data: bytes) -> int:
        view = memoryview(data)
        while view:
            written = os.write(self._descriptor, view)
            self._size += written
            view = view[written:]
        return len(data)

    def tell(self) -> int:
        return self._size

    def close(self) -> None:
        os.close(self._descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
