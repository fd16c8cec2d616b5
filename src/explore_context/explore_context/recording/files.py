"""Where a recording goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from explore_context.recording.writer import SUFFIX, RecordingError


def recording_path(wanted: str, now: float | None = None) -> Path:
    """A file that does not exist yet: ``wanted`` if it ends in .mcap, else one named after the time in that
    folder. A name that is taken gets a number, so that no recording is ever overwritten. Raises
    RecordingError where the folder does not let anybody look."""
    path = Path(wanted).expanduser() if wanted else Path.cwd()
    if path.suffix != SUFFIX:
        path = path / time.strftime(f"explore_context_%Y-%m-%d_%H-%M-%S{SUFFIX}", time.localtime(now))
    try:
        return next(candidate for candidate in _numbered(path) if not candidate.exists())
    except OSError as error:  # not a missing file, that is what is wanted: a folder that may not be searched
        raise RecordingError(f"{path}: cannot record: {error.strerror or error}") from error


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    number = 1
    while True:
        yield path.with_name(f"{path.stem}_{number}{SUFFIX}")
        number += 1
