"""Swing-up by model-predictive control with a calibrated belief: the same search, another objective."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explore_context.model import Belief, ContextModel
from explore_context.planning.execution import ExecutionSettings
from explore_context.planning.objectives import SwingUpCost
from explore_context.planning.plan import Floats, Plan, Planner

HORIZON = 20


class SwingUp:
    """Plans torques that bring the pendulum upright.

    ``samples``: 0 predicts with the belief's mean, as the paper does; S > 0 averages the cost over S draws,
    which hedges against what the calibration left unknown.
    """

    def __init__(
        self,
        model: ContextModel,
        planner: Planner,
        seed: int,
        samples: int = 0,
        horizon: int = HORIZON,
        execution: ExecutionSettings | None = None,
    ) -> None:
        if samples < 0 or horizon < 1:
            raise ValueError(
                f"samples must not be negative and horizon at least 1, got {samples} and {horizon}"
            )
        self._cost = SwingUpCost(model, execution)
        self._planner, self._samples, self._horizon = planner, samples, horizon
        self._rng = np.random.default_rng(seed)
        self.reset()

    def reset(self) -> None:
        """Forget the last plan: the next state belongs to another episode."""
        self._plan: Plan | None = None
        self._planner.reset()

    def next_action(self, state: ArrayLike, belief: Belief, deadline: float | None = None) -> Plan:
        """Plan from ``state`` (X,), one control step after the last call; the first action is the one to
        apply.
        """
        if self._plan is not None:
            self._planner.advance()
        objective = self._cost.bind(state, belief, self._beta(belief))
        self._plan = self._planner.plan(objective, self._horizon, self._rng, deadline)
        return self._plan

    def fallback(self) -> Plan:
        """The previous plan, shifted by a step; without one, no torque."""
        if self._plan is None:
            return Plan(self._planner.centre[None], 0.0, 0, 0.0, False)
        self._plan = self._plan.shifted(1, self._horizon)
        self._planner.advance()
        return self._plan

    def _beta(self, belief: Belief) -> Floats:
        if not self._samples:
            return belief.mean[None]
        return belief.mean + belief.std * self._planner.draw(self._rng, self._samples, len(belief.mean))
