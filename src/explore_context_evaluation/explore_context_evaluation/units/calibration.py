"""Calibrate one system and measure the prediction error that it leaves: the unit behind most figures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from explore_context.model import Belief, ContextModel
from explore_context.planning import (
    Calibration,
    CalibrationSettings,
    ExecutionSettings,
    Planner,
    PlannerSettings,
    default_calibration,
    make_planner,
)
from explore_context.planning.calibration import Scheme
from explore_context.planning.simulated import calibrate_simulated
from explore_context.plants import Plant, get_plant
from explore_context_evaluation.models import ModelReference, load_model
from explore_context_evaluation.prediction import make_test_system, prediction_errors
from explore_context_evaluation.units.base import Record, Unit, calibration_seconds, seed_of

_INITIAL_STATE, _SEARCH = 101, 102


@dataclass(frozen=True)
class CalibrationRun(Unit):
    """Calibration of test system ``system`` by the very code that the calibrator node runs
    (``planning.Calibration``).

    All schemes, planners and models meet the same initial state and process noise on a system. ``planner`` is
    None for the random scheme.

    Record: per calibration rollout r, the belief after it (``mean``, ``std`` (R, B), ``embedding`` (R, F))
    and the squared errors on the test rollouts ``errors`` (R, T, 50); over all R N transitions ``entropy`` (R
    N + 1,), ``states`` (R, N + 1, S), ``actions`` (R, N, U), ``seconds`` (R N,).
    """

    model: ModelReference
    system: int
    scheme: Scheme
    planner: PlannerSettings | None
    transitions: int
    rollouts: int
    test_rollouts: int
    seed: int

    @property
    def settings(self) -> CalibrationSettings:
        defaults = default_calibration(self.model.plant)
        return replace(
            defaults, scheme=self.scheme, transitions=self.transitions, rollouts=self.rollouts
        )

    @property
    def cost(self) -> float:
        open_loop = self.scheme == "open_loop"
        plans = self.rollouts * (1 if open_loop else self.transitions)
        horizon = self.transitions if open_loop else min(self.settings.horizon, self.transitions)
        return 0.1 + calibration_seconds(self.planner, plans, horizon)

    def run(self, inputs: list[Record]) -> Record:
        plant, model = get_plant(self.model.plant), load_model(self.model)
        system = make_test_system(plant, self.system, self.test_rollouts, self.seed)
        calibration = Calibration(
            model,
            self.settings,
            self._make_planner(plant),
            seed=seed_of(self.seed, _SEARCH, self.system),
            execution=ExecutionSettings(workers=1),
        )
        rng = np.random.default_rng([self.seed, _INITIAL_STATE, self.system])
        done = calibrate_simulated(plant, system.context[0], calibration, rng)
        ends = [done.beliefs[(r + 1) * self.transitions] for r in range(self.rollouts)]
        return {
            "errors": np.stack([prediction_errors(model, system, belief) for belief in ends]),
            "mean": np.stack([belief.mean for belief in ends]),
            "std": np.stack([belief.std for belief in ends]),
            "embedding": np.stack([belief.embedding for belief in ends]),
            "entropy": np.array([belief.entropy for belief in done.beliefs]),
            "states": done.states,
            "actions": done.actions,
            "context": system.context[0],
            "seconds": done.seconds,
        }

    def _make_planner(self, plant: Plant) -> Planner | None:
        if self.planner is None:
            return None
        return make_planner(self.planner, plant.spec.action_low, plant.spec.action_high)


def final_belief(record: Record, model: ContextModel, run: CalibrationRun) -> Belief:
    """The belief that a calibration ended with."""
    return model.belief_from_embedding(record["embedding"][-1], run.rollouts * run.transitions)
