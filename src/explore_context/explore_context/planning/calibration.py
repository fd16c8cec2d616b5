"""Calibration schemes (section 3.1) as a state machine without ROS.

``next_action``, apply it, ``observe``, until ``rollout_done``; ``begin_rollout`` until ``done``. Not safe for
use from two threads at once; the belief that it hands out never changes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from explore_context.model import Belief, ContextModel
from explore_context.planning.execution import ExecutionSettings
from explore_context.planning.objectives import ExpectedInformationGain, GainObjective
from explore_context.planning.plan import Floats, Plan, Planner

Scheme = Literal["random", "open_loop", "mpc"]
SCHEMES: tuple[Scheme, ...] = ("random", "open_loop", "mpc")


@dataclass(frozen=True)
class CalibrationSettings:
    """What to do.

    Attributes
    ----------
    transitions:  N of one rollout.
    rollouts:  each begins with a reset; transitions of earlier ones stay in the belief.
    horizon:  H_max of MPC; open loop plans all N steps at once.
    samples:  context samples of the expected information gain; 0 leaves it to the planner.
    reacts:  MPC may begin a plan with an action that prepares for reacting to what will be seen
        (``ways.py``), if its planner can.
    """

    scheme: Scheme = "mpc"
    transitions: int = 30
    rollouts: int = 1
    horizon: int = 20
    samples: int = 0
    reacts: bool = True

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ValueError(f"scheme {self.scheme!r} is not one of {', '.join(SCHEMES)}")
        if self.transitions < 1 or self.rollouts < 1 or self.horizon < 1 or self.samples < 0:
            raise ValueError(
                f"transitions, rollouts and horizon must be at least 1 and samples not negative: {self}"
            )


def default_calibration(plant_name: str) -> CalibrationSettings:
    """The paper's numbers for its systems; a plant that is not the paper's gets the pendulum's."""
    if plant_name.startswith("toy"):
        return CalibrationSettings(scheme="open_loop", transitions=1, horizon=1)
    if plant_name == "mountain_car":
        # A terrain is learned place by place: the coarse pushes of ways cost more than foresight gains.
        return CalibrationSettings(transitions=50, horizon=30, reacts=False)
    return CalibrationSettings()


class Calibration:
    """One calibration of one system: ``rollouts`` rollouts of ``transitions`` transitions, all in one belief.

    Parameters
    ----------
    planner:  None is allowed for the random scheme only.
    start:  the belief to start from (default: the prior), e.g. that of an earlier calibration of the same
        system.
    """

    def __init__(
        self,
        model: ContextModel,
        settings: CalibrationSettings,
        planner: Planner | None,
        seed: int,
        start: Belief | None = None,
        execution: ExecutionSettings | None = None,
    ) -> None:
        if planner is None and settings.scheme != "random":
            raise ValueError(f"scheme {settings.scheme!r} needs a planner")
        self.model, self.settings = model, settings
        self.belief = start or model.prior
        self.initial_entropy = self.belief.entropy
        self.step, self.rollout = 0, 0
        self._planner = planner
        self._gain = (
            ExpectedInformationGain(model, execution) if planner and settings.scheme != "random" else None
        )
        self._rng = np.random.default_rng(seed)
        self._low = np.asarray(model.manifest.action_low, np.float32)
        self._high = np.asarray(model.manifest.action_high, np.float32)
        self._plan: Plan | None = None
        self._planned_step = self._flight_step = 0
        if planner:
            planner.reset()

    @property
    def rollout_done(self) -> bool:
        return self.step >= self.settings.transitions

    @property
    def done(self) -> bool:
        return self.rollout_done and self.rollout + 1 >= self.settings.rollouts

    @property
    def information_gained(self) -> float:
        """H[q(beta | T_0)] - H[q(beta | T_n)], nats."""
        return self.initial_entropy - self.belief.entropy

    def next_action(
        self,
        state: ArrayLike,
        deadline: float | None = None,
        ahead: int = 0,
        flight_step: int | None = None,
    ) -> Plan:
        """Plan from ``state`` (X,); the first action of the plan is the one to apply.

        ``deadline``: a time of ``time.monotonic()``. ``ahead``: actions that are already under way but not
        observed; a node that plans during the control period passes the predicted state and 1.
        ``flight_step``: actions that the plant has executed since the first of this rollout, by default as
        many as were observed. It is larger where states got lost: what is still to be observed decides how
        far to plan, what was executed decides which part of the last plan is over.
        """
        remaining = self.settings.transitions - self.step - ahead
        if remaining <= 0:
            raise RuntimeError(
                f"the rollout has only {self.settings.transitions} transitions; begin the next rollout"
            )
        self._fly_to(self.step + ahead if flight_step is None else flight_step)
        if self._planner is None or self._gain is None:
            plan = self._random_plan()
        elif self.settings.scheme == "open_loop" and self._plan is not None and self._actions_left() > 0:
            return self._rest_of_plan(self._plan, finished=True)
        else:
            plan = self._search(self._planner, state, remaining, deadline)
        self._plan, self._planned_step = plan, self._flight_step
        return plan

    def fallback(self, ahead: int = 0, flight_step: int | None = None) -> Plan:
        """For a missed deadline: the previous plan, shifted; without one, the centre of the action range.
        Arguments as of ``next_action``."""
        if self._plan is None:
            centre = ((self._low + self._high) / 2).astype(np.float32)[None]
            return Plan(centre, 0.0, 0, 0.0, False)
        step = min(self.step + ahead, self.settings.transitions - 1) if flight_step is None else flight_step
        # Where states got lost, fewer were observed than executed; the plan is never older than it was.
        self._flight_step = max(self._flight_step, step)
        return self._rest_of_plan(self._plan, finished=False)

    def observe(self, state: ArrayLike, action: ArrayLike, following: ArrayLike) -> Belief:
        """Add the transition x, u -> x+ to the belief, with the action that was really applied."""
        if self.rollout_done:
            raise RuntimeError(
                f"all {self.step} transitions of the rollout were observed; begin the next rollout"
            )
        x, u, following = (np.asarray(v, np.float32).reshape(1, -1) for v in (state, action, following))
        self.belief = self.model.update(self.belief, x, u, following)
        self.step += 1
        return self.belief

    def begin_rollout(self) -> None:
        """The system was reset to an initial state: transitions seen so far stay in the belief."""
        if not self.rollout_done or self.done:
            place = f"step {self.step} of rollout {self.rollout + 1} of {self.settings.rollouts}"
            raise RuntimeError(f"no new rollout is due at {place}")
        self.rollout += 1
        self.step = 0
        self._forget_plan()

    def predict(self, state: ArrayLike, action: ArrayLike) -> Floats:
        """Predicted next state (X,) under the belief's mean."""
        x, u = (np.asarray(v, np.float32).reshape(1, -1) for v in (state, action))
        mean: Floats = self.model.predict_one(x, u, self.belief.mean)[0][0]
        return mean

    def objective(self, state: ArrayLike, remaining: int) -> GainObjective:
        """Expected information gain at ``state`` under the present belief, with fresh context samples, when
        ``remaining`` transitions are still to come."""
        if self._planner is None or self._gain is None:
            raise RuntimeError("the random scheme has no objective")
        finalist = None
        if self._planner.finalist_samples:
            finalist = self._belief_samples(self._planner, self._planner.finalist_samples)
        samples = self._belief_samples(self._planner, self.settings.samples or self._planner.samples)
        # Open loop plans once: what it will see cannot change what it does.
        reacting = remaining if self.settings.reacts and self.settings.scheme == "mpc" else 0
        return self._gain.bind(state, self.belief, samples, finalist, reacting)

    def _belief_samples(self, planner: Planner, n: int) -> Floats:
        return self.belief.mean + self.belief.std * planner.draw(self._rng, n, len(self.belief.mean))

    def _fly_to(self, flight_step: int) -> None:
        """A flight that begins anew, because somebody reset the plant, leaves its old plan behind."""
        if flight_step < self._flight_step:
            self._forget_plan()
        self._flight_step = flight_step

    def _forget_plan(self) -> None:
        self._plan = None
        self._planned_step = self._flight_step = 0
        if self._planner:
            self._planner.reset()

    def _actions_left(self) -> int:
        """Of the last plan; without any, open loop has to plan again for what got lost."""
        executed = self._flight_step - self._planned_step
        return 0 if self._plan is None else len(self._plan.actions) - executed

    def _search(self, planner: Planner, state: ArrayLike, remaining: int, deadline: float | None) -> Plan:
        horizon = remaining if self.settings.scheme == "open_loop" else min(self.settings.horizon, remaining)
        if self._plan is not None:
            for _ in range(self._flight_step - self._planned_step):
                planner.advance()
        return planner.plan(self.objective(state, remaining), horizon, self._rng, deadline)

    def _random_plan(self) -> Plan:
        """One uniform action; its expected gain is not computed."""
        started = time.monotonic()
        action = self._rng.uniform(self._low, self._high).astype(np.float32)[None]
        return Plan(action, 0.0, 0, time.monotonic() - started, True)

    def _rest_of_plan(self, plan: Plan, finished: bool) -> Plan:
        rest = plan.shifted(self._flight_step - self._planned_step, max(1, self._actions_left()))
        return Plan(rest.actions, rest.score, 0, 0.0, finished)
