"""Point the CMake exports of the ROS wheels at this environment.

The wheels were built elsewhere: their exported targets name the Python and numpy include folders of the build
machine (/opt/python/cp311-cp311/...). Rewriting is idempotent. Run with the environment's own interpreter.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from pathlib import Path

import numpy

BUILD_PYTHON = r"/opt/python/cp\d+-cp\d+"
PYTHON_INCLUDE = re.compile(BUILD_PYTHON + r"/include/python3\.\d+")
NUMPY_INCLUDE = re.compile(BUILD_PYTHON + r"/lib/python3\.\d+/site-packages/numpy/(?:_core|core)/include")


def repaired(text: str) -> str:
    """``text`` with the build machine's include folders replaced by this environment's."""
    text = NUMPY_INCLUDE.sub(lambda _: numpy.get_include(), text)
    return PYTHON_INCLUDE.sub(lambda _: sysconfig.get_paths()["include"], text)


def main() -> None:
    changed = 0
    for path in sorted((Path(sys.prefix) / "share").glob("*/cmake/*.cmake")):
        before = path.read_text(encoding="utf-8")
        after = repaired(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed += 1
    print(f"  CMake paths repaired in {changed} files")


if __name__ == "__main__":
    main()
