"""Planning of informative action sequences and of control, without ROS. How to choose: README.md beside."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explore_context.planning.calibration import (
    SCHEMES,
    Calibration,
    CalibrationSettings,
    default_calibration,
)
from explore_context.planning.cem import CrossEntropyMethod
from explore_context.planning.control import SwingUp
from explore_context.planning.execution import ExecutionSettings
from explore_context.planning.objectives import ExpectedInformationGain, SwingUpCost, graph_runner
from explore_context.planning.plan import Objective, Plan, Planner, PlanningError
from explore_context.planning.realtime import RealtimePlanner
from explore_context.planning.settings import (
    PaperPlannerSettings,
    PlannerSettings,
    PlannerSettingsError,
    RealtimePlannerSettings,
    load_planner_settings,
    planner_names,
)


def make_planner(settings: PlannerSettings, action_low: ArrayLike, action_high: ArrayLike) -> Planner:
    """The planner that ``settings`` are for."""
    low, high = np.asarray(action_low, np.float32), np.asarray(action_high, np.float32)
    if isinstance(settings, PaperPlannerSettings):
        return CrossEntropyMethod(settings, low, high)
    return RealtimePlanner(settings, low, high)


__all__ = [
    "SCHEMES",
    "Calibration",
    "CalibrationSettings",
    "CrossEntropyMethod",
    "ExecutionSettings",
    "ExpectedInformationGain",
    "Objective",
    "PaperPlannerSettings",
    "Plan",
    "Planner",
    "PlannerSettings",
    "PlannerSettingsError",
    "PlanningError",
    "RealtimePlanner",
    "RealtimePlannerSettings",
    "SwingUp",
    "SwingUpCost",
    "default_calibration",
    "graph_runner",
    "load_planner_settings",
    "make_planner",
    "planner_names",
]
