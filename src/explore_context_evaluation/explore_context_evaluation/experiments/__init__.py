"""The experiments, in the order of the report."""

from __future__ import annotations

from explore_context_evaluation.experiments.base import Experiment, Figure, Scope, Summary
from explore_context_evaluation.experiments.belief_honesty import BeliefHonesty
from explore_context_evaluation.experiments.calibration_budget import CalibrationBudget
from explore_context_evaluation.experiments.planners import PlannersSideBySide
from explore_context_evaluation.experiments.prediction import PlantPrediction
from explore_context_evaluation.experiments.quadrant_entropy import QuadrantEntropyExperiment
from explore_context_evaluation.experiments.swing_up import SwingUpExperiment
from explore_context_evaluation.experiments.toy_entropy import ToyEntropy
from explore_context_evaluation.experiments.toy_prediction import ToyPrediction
from explore_context_evaluation.experiments.trajectories import MountainCarTrajectories, PendulumTrajectories


def all_experiments() -> list[Experiment]:
    """New objects, in the order of the report."""
    return [
        PlantPrediction("pendulum"),
        PlantPrediction("mountain_car"),
        ToyEntropy(),
        ToyPrediction(),
        PendulumTrajectories(),
        QuadrantEntropyExperiment(),
        SwingUpExperiment(),
        MountainCarTrajectories(),
        CalibrationBudget("pendulum"),
        CalibrationBudget("mountain_car"),
        BeliefHonesty("pendulum"),
        BeliefHonesty("mountain_car"),
        PlannersSideBySide("pendulum"),
        PlannersSideBySide("mountain_car"),
    ]


def choose_experiments(names: list[str]) -> list[Experiment]:
    """Those whose name is, or begins with, one of ``names``; all for an empty list."""
    everything = all_experiments()
    for name in names:
        if not any(experiment.name.startswith(name) for experiment in everything):
            known = ", ".join(experiment.name for experiment in everything)
            raise ValueError(f"--only {name}: no such experiment; there are {known}")
    return [e for e in everything if not names or any(e.name.startswith(name) for name in names)]


__all__ = ["Experiment", "Figure", "Scope", "Summary", "all_experiments", "choose_experiments"]
