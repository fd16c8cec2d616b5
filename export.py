#!/usr/bin/env python3
"""Export a trained model to ONNX: ``python export.py pendulum`` (see ``--help``)."""

import sys
from pathlib import Path

for package in ("explore_context", "explore_context_training"):
    sys.path.insert(0, str(Path(__file__).resolve().parent / "src" / package))

from explore_context_training.export_cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
