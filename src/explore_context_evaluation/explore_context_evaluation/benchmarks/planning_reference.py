"""Calibrations with the paper's planner, kept on disk: they take minutes per system and stay the same
whatever becomes of the real-time planner. An interrupted benchmark goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from joblib import Memory

from explore_context.planning.simulated import SimulatedCalibration
from explore_context_evaluation.cache import code_version, default_folder

# Files of explore_context.planning that the paper's planner does not use.
_OF_OTHER_PLANNERS = frozenset({"realtime.py", "sampling.py", "settings.py", "swings.py", "ways.py"})


def kept_calibration(work: Callable[[], SimulatedCalibration], *key: Any) -> SimulatedCalibration:
    """The result of ``work``, computed once per ``key`` (values, settings) and version of the code."""
    memory = Memory(default_folder().with_name("benchmark"), verbose=0)
    version = code_version(_OF_OTHER_PLANNERS)
    run: SimulatedCalibration = memory.cache(_computed, ignore=["work"])(work, (*key, version))
    return run


def _computed(work: Callable[[], SimulatedCalibration], key: tuple[Any, ...]) -> SimulatedCalibration:
    return work()
