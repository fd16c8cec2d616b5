#!/usr/bin/env python3
"""Train the context-conditional model of a plant: ``python train.py pendulum`` (see ``--help``)."""

import sys
from pathlib import Path

for package in ("explore_context", "explore_context_training"):
    sys.path.insert(0, str(Path(__file__).resolve().parent / "src" / package))

from explore_context_training.train_cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
