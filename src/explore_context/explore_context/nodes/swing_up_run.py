"""One swing-up on a live pendulum with a calibrated belief: episode, return, balancing. No ROS here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from explore_context.model import Belief, ContextModel
from explore_context.nodes.flight import Decision, PilotSettings, Port, Situation
from explore_context.nodes.pilot import Pilot
from explore_context.nodes.planning_thread import InterruptiblePlanner
from explore_context.nodes.samples import Array
from explore_context.nodes.transition_filter import Judgement, Transition, Verdict
from explore_context.planning import SwingUp
from explore_context.planning.objectives import swing_up_cost
from explore_context.planning.plan import Plan

_UPRIGHT_COSINE = np.cos(np.pi / 6)


def upright(observation: Array) -> bool:
    """Within 30 degrees of the top; ``observation`` is (cos, sin, speed)."""
    return bool(observation[0] > _UPRIGHT_COSINE)


def reward(transition: Transition) -> float:
    """The plant's own, which knows what the motor really did; where it gives none, as a robot, an estimate
    from states and command. Both are zero only at rest on the top.

    Gym's pendulum pays for two simulation steps per transition, the second of them from half way between the
    two states; the estimate does the same, so that returns can be compared."""
    if transition.reward:
        return transition.reward
    states = np.stack([transition.state, transition.following]).astype(np.float32)
    before, after = swing_up_cost(states, transition.action.astype(np.float32)[None])
    return -float(before + (before + after) / 2)


@dataclass(frozen=True)
class Episode:
    """The result: ``total`` is the sum of the rewards of the first ``decisions`` transitions."""

    total: float
    decisions: int
    upright: bool


class SwingUpRun:
    """Replans at every step; after ``episode`` decisions it reports the return and, if told to, goes on."""

    def __init__(
        self,
        model: ContextModel,
        make: Callable[[], SwingUp],
        planner: InterruptiblePlanner,
        belief: Belief,
        port: Port,
        settings: PilotSettings,
        episode: int,
        keep_balancing: bool,
        completed: Callable[[Episode], None],
        failed: Callable[[str], None],
    ) -> None:
        """``make`` is called in the planning thread and gives ``planner`` to the controller."""
        self._model, self._make, self._planner, self._port = model, make, planner, port
        self.belief = belief  # a newer one of the same system holds from the next plan on
        self._episode, self._keep_balancing = episode, keep_balancing
        self._completed, self._failed = completed, failed
        self.decisions = 0
        self.total = 0.0
        self.planning_time = self.planning_time_max = 0.0
        self._ended = False
        self._pilot = Pilot(port, settings, self._think, self._on_decision, self._fail)

    @property
    def missed_deadlines(self) -> int:
        return self._pilot.missed_deadlines

    def start(self) -> None:
        self._port.submit(self._make, self._begin, lambda error: self._fail(str(error)))

    def change(self, *, margin: float) -> None:
        self._pilot.settings = replace(self._pilot.settings, margin=margin)

    def on_state(self, judgement: Judgement) -> None:
        transition = judgement.transition
        if judgement.verdict is Verdict.FIRST and 0 < self.decisions < self._episode:
            self._begin_again()
        if transition is not None and self._pilot.counts(transition) and not self._ended:
            self.decisions += 1
            if self.decisions <= self._episode:
                self.total += reward(transition)
            if self.decisions == self._episode:
                self._complete(upright(transition.following))
        self._pilot.on_state(judgement)

    def check(self, state_timeout: float) -> None:
        """Keep the command; give up if nothing has gone on for too long."""
        self._pilot.keep_command()
        if problem := self._pilot.stall(state_timeout):
            self._fail(problem)

    def end(self) -> None:
        """Zero action, command given up, planning interrupted."""
        if not self._ended:
            self._ended = True
            self._pilot.stop(complete=False)
            self._planner.interrupt()

    def _begin(self, swing_up: SwingUp) -> None:
        if not self._ended:
            self._swing_up = swing_up
            self._pilot.begin_rollout()

    def _begin_again(self) -> None:
        """Somebody reset the plant in the middle: a return over two rollouts would be none of either."""
        self.decisions, self.total = 0, 0.0
        self._port.submit(self._swing_up.reset, lambda _: None, lambda error: self._fail(str(error)))

    def _think(self, situation: Situation) -> Plan | None:
        """In the planning thread."""
        if self._ended:
            return None
        belief = self.belief
        if situation.under_way is None:
            return self._swing_up.next_action(situation.state, belief, situation.deadline)
        mean, _ = self._model.predict_one(situation.state[None], situation.under_way[None], belief.mean)
        return self._swing_up.next_action(mean[0], belief, situation.deadline)

    def _on_decision(self, decision: Decision) -> None:
        self.planning_time = decision.seconds
        self.planning_time_max = max(self.planning_time_max, decision.seconds)

    def _complete(self, is_upright: bool) -> None:
        self._completed(Episode(self.total, self.decisions, is_upright))
        if not self._keep_balancing:
            self.end()

    def _fail(self, reason: str) -> None:
        if not self._ended:
            self.end()
            self._failed(reason)
