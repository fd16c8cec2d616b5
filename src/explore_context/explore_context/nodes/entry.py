"""Console scripts of all nodes: signals first, the rest after.

Importing numpy, rclpy and ONNX Runtime takes a second or more. Whoever interrupts a launch in that time wants
an end, not a traceback; nothing is running yet, so the process simply leaves. ``run_node`` puts its own
handlers in place as soon as there is something to stop.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial

PLANNING_THREAD = "planning thread"


def run(module: str) -> int:
    """``main()`` of a module beside this one."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: os._exit(0))
    code = int(importlib.import_module(f"explore_context.nodes.{module}").main())
    if any(thread.name == PLANNING_THREAD for thread in threading.enumerate()):
        # Everything is said and done, only a planner thinks on in foreign code: an orderly end of the
        # interpreter would wait for it, or pull the ground from under it.
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def __getattr__(name: str) -> Callable[[], int]:
    """``entry:calibrator_node`` is the main function of that module."""
    if name.startswith("_"):
        raise AttributeError(name)
    return partial(run, name)
