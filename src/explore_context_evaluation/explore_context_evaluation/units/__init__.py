"""Units of work: each computes one small result on one system, alone, anywhere, and always the same."""

from explore_context_evaluation.units.base import Record, Unit
from explore_context_evaluation.units.beliefs import EntropyAndError, EntropyOverActions, QuadrantEntropy
from explore_context_evaluation.units.calibration import CalibrationRun
from explore_context_evaluation.units.coverage import PredictiveCoverage
from explore_context_evaluation.units.swing_up import GroundTruthEpisode, SwingUpEpisode

__all__ = [
    "CalibrationRun",
    "EntropyAndError",
    "EntropyOverActions",
    "GroundTruthEpisode",
    "PredictiveCoverage",
    "QuadrantEntropy",
    "Record",
    "SwingUpEpisode",
    "Unit",
]
