"""What killed processes leave in shared memory.

A process of Fast DDS owns a segment ``fastrtps_<id>`` in ``/dev/shm`` and locks ``fastrtps_<id>_el`` while it
lives. One that is killed cannot remove them, and no other process does: half a megabyte for every
killed node until the next reboot (``fastdds shm clean`` does the same by hand). Ports, which have such files
too, are taken over by Fast DDS itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import time
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
# A process that just starts makes its files before it locks them.
_GRACE_SECONDS = 10.0
_LOCK = re.compile(r"(fastrtps_[0-9a-f]+)_el")


def remove_leftovers(folder: Path = SHARED_MEMORY) -> list[str]:
    """Remove the segments whose process is gone; returns their names. What belongs to other users stays."""
    removed = []
    for lock in sorted(folder.glob("fastrtps_*_el")):
        segment = _LOCK.fullmatch(lock.name)
        with contextlib.suppress(OSError):
            if segment and time.time() - lock.stat().st_mtime > _GRACE_SECONDS and _is_free(lock):
                (folder / segment[1]).unlink(missing_ok=True)
                lock.unlink()
                removed.append(segment[1])
    return removed


def _is_free(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
