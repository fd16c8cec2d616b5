"""``python -m explore_context_evaluation.benchmarks [NAME] [options]``, or ``./ws bench``: see ``NAMES``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

# Every number is for one core; to be set before numpy or torch are loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

NAMES = ("plants", "training", "planning", "exploration", "tuning")


def main(argv: Sequence[str]) -> int:
    """Run the named benchmark with the other arguments, or all of them without any."""
    if argv and argv[0] not in NAMES:
        print(f"usage: benchmarks [{'|'.join(NAMES)}] [options]", file=sys.stderr)
        return 2
    for name in argv[:1] or NAMES:
        module = importlib.import_module(f"explore_context_evaluation.benchmarks.{name}")
        if code := module.main(list(argv[1:])):
            return int(code)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
