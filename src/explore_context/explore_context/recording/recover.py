"""Making a broken recording whole: every complete record is kept, the index is written anew.

Broken is what a killed recorder, a full disk or a bad sector leaves: the end is missing, or a chunk in the
middle does not match its checksum. Works on any MCAP file, ours or another tool's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcap.exceptions import McapError
from mcap.records import Attachment, Channel, Chunk, Footer, Header, Message, Metadata, Schema
from mcap.stream_reader import CRCValidationError, StreamReader, breakup_chunk
from mcap.writer import CompressionType, Writer

from explore_context.recording.writer import RecordingError

# Anything that damaged bytes make the reader raise: short reads, impossible lengths, text that is none.
_DAMAGE = (
    McapError,
    CRCValidationError,
    struct.error,
    EOFError,
    ValueError,
    MemoryError,
    KeyError,
    RuntimeError,
    OSError,  # a bad sector
)


@dataclass(frozen=True)
class Recovered:
    """What could be saved. ``complete``: the source had nothing wrong with it."""

    messages: int
    topics: int
    lost_chunks: int
    complete: bool


def recover(source: Path, target: Path) -> Recovered:
    """Copy everything readable of ``source`` to the new file ``target``."""
    if target.exists():
        raise RecordingError(f"{target}: exists already; choose another name with -o")
    try:
        stream = source.open("rb")
    except OSError as error:
        raise RecordingError(f"{source}: {error.strerror}") from error
    partial = target.with_name(target.name + ".partial")
    try:
        with stream, partial.open("wb") as output:
            found = _copy(source, stream, output)
        partial.rename(target)
    except OSError as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(f"{target}: cannot write: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)
    return found


def _copy(source: Path, stream: Any, output: Any) -> Recovered:
    """Two passes: the definitions first, since the summary may hold one whose chunk is lost."""
    definitions = _Definitions()
    for record in _Rescue(stream):
        definitions.add(record)
    stream.seek(0)
    rescue = _Rescue(stream)
    header = next(rescue, None)
    if not isinstance(header, Header):
        raise RecordingError(f"{source}: not an MCAP recording, nothing to recover")
    writer = Writer(output, compression=CompressionType.ZSTD)
    writer.start(profile=header.profile, library=header.library)
    copy = _Copy(writer, definitions)
    for record in rescue:
        copy.add(record)
    writer.finish()
    return Recovered(
        copy.messages, copy.topics, rescue.lost_chunks, rescue.reached_end and not rescue.lost_chunks
    )


class _Rescue:
    """The records that can be read, chunks opened; ends quietly where nothing more can be read."""

    def __init__(self, stream: Any) -> None:
        self.lost_chunks = 0
        self.reached_end = False
        self._records = self._read(StreamReader(stream, emit_chunks=True))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._records)

    def _read(self, reader: StreamReader) -> Iterator[Any]:
        records = iter(reader.records)
        while True:
            try:
                record = next(records)
            except (StopIteration, *_DAMAGE):
                return
            if isinstance(record, Chunk):
                yield from self._open(record)
            else:
                self.reached_end |= isinstance(record, Footer)
                yield record

    def _open(self, chunk: Chunk) -> list[Any]:
        try:
            return list(breakup_chunk(chunk, validate_crc=True))
        except Exception:  # the decompressors raise types of their own
            self.lost_chunks += 1
            return []


class _Definitions:
    """Schemas and channels by the numbers that they have in the source."""

    def __init__(self) -> None:
        self.schemas: dict[int, Schema] = {}
        self.channels: dict[int, Channel] = {}

    def add(self, record: Any) -> None:
        if isinstance(record, Schema):
            self.schemas.setdefault(record.id, record)
        elif isinstance(record, Channel):
            self.channels.setdefault(record.id, record)


class _Copy:
    """Writes records to another file under new numbers, definitions when the first message needs them."""

    def __init__(self, writer: Writer, definitions: _Definitions) -> None:
        self.messages = 0
        self._writer = writer
        self._definitions = definitions
        self._schemas: dict[int, int] = {0: 0}
        self._channels: dict[int, int | None] = {}

    @property
    def topics(self) -> int:
        return sum(number is not None for number in self._channels.values())

    def add(self, record: Any) -> None:
        if isinstance(record, Message):
            channel = self._channel(record.channel_id)
            if channel is not None:
                self._writer.add_message(
                    channel, record.log_time, record.data, record.publish_time, record.sequence
                )
                self.messages += 1
        elif isinstance(record, Metadata):
            self._writer.add_metadata(record.name, record.metadata)
        elif isinstance(record, Attachment):
            self._writer.add_attachment(
                record.create_time, record.log_time, record.name, record.media_type, record.data
            )

    def _channel(self, number: int) -> int | None:
        if number not in self._channels:
            channel = self._definitions.channels.get(number)
            schema = None if channel is None else self._schema(channel.schema_id)
            self._channels[number] = (
                None
                if channel is None or schema is None
                else self._writer.register_channel(
                    channel.topic, channel.message_encoding, schema, channel.metadata
                )
            )
        return self._channels[number]

    def _schema(self, number: int) -> int | None:
        schema = self._definitions.schemas.get(number)
        if number not in self._schemas and schema is not None:
            self._schemas[number] = self._writer.register_schema(schema.name, schema.encoding, schema.data)
        return self._schemas.get(number)
