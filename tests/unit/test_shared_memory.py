"""Which shared-memory files of Fast DDS are leftovers."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from explore_context.nodes.shared_memory import remove_leftovers


def segment(folder: Path, name: str, age: float = 100.0) -> Path:
    for path in (folder / name, folder / f"{name}_el"):
        path.touch()
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
    return folder / f"{name}_el"


def test_only_old_unlocked_segments_are_removed(tmp_path: Path) -> None:
    segment(tmp_path, "fastrtps_00ff")
    segment(tmp_path, "fastrtps_0123", age=1.0)  # somebody may be starting
    segment(tmp_path, "fastrtps_port7000")  # Fast DDS takes it over
    with segment(tmp_path, "fastrtps_beef").open("rb") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        assert remove_leftovers(tmp_path) == ["fastrtps_00ff"]
        assert not list(tmp_path.glob("fastrtps_00ff*"))
        assert len(list(tmp_path.iterdir())) == 6
    assert remove_leftovers(tmp_path) == ["fastrtps_beef"]


def test_no_shared_memory_is_no_problem(tmp_path: Path) -> None:
    assert remove_leftovers(tmp_path / "none") == []
