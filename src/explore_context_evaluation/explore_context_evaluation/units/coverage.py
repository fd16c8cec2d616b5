"""Does a predictive interval hold what it says? Probability integral transform of true states under the
predictive distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from explore_context.model import ContextModel
from explore_context.plants import get_plant
from explore_context_evaluation.models import load_model
from explore_context_evaluation.prediction import TestSystem, make_test_system
from explore_context_evaluation.units.base import Record, Unit, seed_of
from explore_context_evaluation.units.calibration import CalibrationRun, final_belief

Array = NDArray[np.float64]
_SAMPLES = 401


@dataclass(frozen=True)
class PredictiveCoverage(Unit):
    """Position of the true states of the test rollouts in the distribution that is predicted after
    ``calibration``.

    The predictive distribution is a mixture: one Gaussian (the model's mean and variance) for each of
    ``samples`` draws of the belief. Its cumulative distribution at the true state is uniform on [0, 1] if the
    prediction is honest.

    Record: ``with_belief`` and ``mean_only`` (T, K, X), at the K ``horizons``; the second ignores the
    belief's spread.
    """

    calibration: CalibrationRun
    horizons: tuple[int, ...]
    samples: int

    @property
    def needs(self) -> tuple[Unit, ...]:
        return (self.calibration,)

    @property
    def cost(self) -> float:
        return 0.01 * self.samples

    def run(self, inputs: list[Record]) -> Record:
        run = self.calibration
        plant, model = get_plant(run.model.plant), load_model(run.model)
        system = make_test_system(plant, run.system, run.test_rollouts, run.seed)
        belief = final_belief(inputs[0], model, run)
        rng = np.random.default_rng(seed_of(run.seed, _SAMPLES, run.system))
        return {
            "with_belief": self._transform(model, system, belief.sample(rng, self.samples)),
            "mean_only": self._transform(model, system, belief.mean[None]),
        }

    def _transform(self, model: ContextModel, system: TestSystem, beta: NDArray[np.float32]) -> Array:
        """Mean over beta (S, B) of the Gaussians' cumulative distributions at the true states, (T, K, X)."""
        steps = np.array(self.horizons) - 1
        truth = system.observations[:, 1:][:, steps]
        total = np.zeros_like(truth)
        for sample in beta:
            mean, variance = model.predict(
                system.observations[:, 0], system.actions[:, : steps.max() + 1], sample
            )
            total += ndtr((truth - mean[:, steps]) / np.sqrt(variance[:, steps]))
        return total / len(beta)
