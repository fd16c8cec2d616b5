"""Keeps the stand-ins away from the real packages: both in one process would mix two launch systems."""

from __future__ import annotations

import os
from pathlib import Path


def real_package_prefix(package: str) -> Path | None:
    """The first prefix of ``AMENT_PREFIX_PATH`` that holds the real ``package``, None if there is none."""
    for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if entry and (Path(entry) / "share/ament_index/resource_index/packages" / package).is_file():
            return Path(entry)
    return None


def refuse_beside_real(package: str) -> None:
    """Raise ImportError where the real ``package`` is installed, because it must be used then."""
    prefix = real_package_prefix(package)
    if prefix is not None:
        raise ImportError(
            f"ros2_mini's '{package}' is only for machines without it, but the real one is in {prefix}: "
            "remove src/ros2_mini from PYTHONPATH."
        )
