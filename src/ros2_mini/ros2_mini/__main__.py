"""``python -m ros2_mini …`` behaves like ``ros2 …``."""

from __future__ import annotations

import sys

from ros2_mini.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
