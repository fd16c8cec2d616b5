"""Swing-up episodes (section 4.3, control experiment): with a calibrated belief, and with the true dynamics
as the forward model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explore_context.model import Belief
from explore_context.planning import (
    ExecutionSettings,
    Objective,
    Plan,
    Planner,
    PlannerSettings,
    SwingUp,
    make_planner,
)
from explore_context.planning.control import HORIZON
from explore_context.planning.objectives import swing_up_cost
from explore_context.planning.plan import Floats
from explore_context.planning.simulated import SimulatedEpisode, swing_up_simulated
from explore_context.plants import Plant, get_plant
from explore_context_evaluation.models import load_model
from explore_context_evaluation.prediction import make_test_system
from explore_context_evaluation.units.base import Record, Unit, candidates_per_plan, seed_of
from explore_context_evaluation.units.calibration import CalibrationRun, final_belief

DECISIONS = 50
NOMINAL_FACTOR = 1.25
_INITIAL_STATE, _SEARCH = 201, 202
_NO_BELIEF = Belief(*(np.zeros(0, np.float32),) * 3)


@dataclass(frozen=True)
class SwingUpEpisode(Unit):
    """50 decisions from hanging down, planned with the belief that ``calibration`` ended with.

    Record: ``return_`` (), ``angle`` (51,) wrapped to [-pi, pi), 0 is upright, ``speed`` (51,), ``actions``
    (50, 1), ``seconds`` (50,).
    """

    calibration: CalibrationRun
    planner: PlannerSettings

    @property
    def needs(self) -> tuple[Unit, ...]:
        return (self.calibration,)

    @property
    def cost(self) -> float:
        return DECISIONS * (0.01 + 2e-5 * candidates_per_plan(self.planner))

    def run(self, inputs: list[Record]) -> Record:
        run = self.calibration
        plant, model = get_plant("pendulum"), load_model(run.model)
        planner = make_planner(self.planner, plant.spec.action_low, plant.spec.action_high)
        seed = seed_of(run.seed, _SEARCH, run.system)
        swing_up = SwingUp(model, planner, seed, execution=ExecutionSettings(workers=1))
        rng = np.random.default_rng([run.seed, _INITIAL_STATE, run.system])
        belief = final_belief(inputs[0], model, run)
        return _record(swing_up_simulated(plant, inputs[0]["context"], swing_up, belief, rng, DECISIONS))


@dataclass(frozen=True)
class GroundTruthEpisode(Unit):
    """The same with the simulator as the forward model: ``nominal`` on a pendulum whose factors are all 1.25,
    otherwise on the test system itself.

    The second is what no learned model can be expected to beat on that system.
    """

    system: int
    nominal: bool
    planner: PlannerSettings
    seed: int

    @property
    def cost(self) -> float:
        return DECISIONS * (0.01 + 3e-5 * candidates_per_plan(self.planner))

    def run(self, inputs: list[Record]) -> Record:
        plant = get_plant("pendulum")
        context = (
            np.full(4, NOMINAL_FACTOR)
            if self.nominal
            else make_test_system(plant, self.system, 1, self.seed).context[0]
        )
        planner = make_planner(self.planner, plant.spec.action_low, plant.spec.action_high)
        swing_up = GroundTruthSwingUp(plant, context, planner, seed_of(self.seed, _SEARCH, self.system))
        rng = np.random.default_rng([self.seed, _INITIAL_STATE, self.system])
        return _record(swing_up_simulated(plant, context, swing_up, _NO_BELIEF, rng, DECISIONS))


class GroundTruthSwingUp:
    """``SwingUp`` with the true pendulum in place of the learned one: same search, horizon and cost."""

    def __init__(self, plant: Plant, context: ArrayLike, planner: Planner, seed: int) -> None:
        self._plant, self._context, self._planner = plant, np.asarray(context, np.float64), planner
        self._rng = np.random.default_rng(seed)
        self.reset()

    def reset(self) -> None:
        self._planned = False
        self._planner.reset()

    def next_action(self, state: ArrayLike, belief: Belief, deadline: float | None = None) -> Plan:
        """Plan from the observation ``state`` (3,); there is nothing to believe."""
        del belief
        if self._planned:
            self._planner.advance()
        self._planned = True
        return self._planner.plan(self.objective(np.asarray(state, np.float64)), HORIZON, self._rng, deadline)

    def objective(self, observation: np.ndarray) -> Objective:
        """Minus the cost of the states that candidates (K, H, 1) really lead to."""
        start = np.array([np.arctan2(observation[1], observation[0]), observation[2]])

        def scores(candidates: Floats) -> Floats:
            actions = np.asarray(candidates, np.float64)
            state = np.repeat(start[None], len(actions), axis=0)
            context = np.repeat(self._context[None], len(actions), axis=0)
            cost = np.zeros(len(actions))
            for step in range(actions.shape[1]):
                state = self._plant.step(state, actions[:, step], context, self._rng)
                cost += swing_up_cost(self._plant.observe(state), actions[:, step])  # type: ignore[arg-type]
            return (-cost).astype(np.float32)

        return scores


def _record(episode: SimulatedEpisode) -> Record:
    cos, sin, speed = episode.observations.T
    return {
        "return_": np.array(episode.return_),
        "angle": np.arctan2(sin, cos),
        "speed": speed,
        "actions": episode.actions,
        "seconds": episode.seconds,
    }
