"""One calibration on a live plant, from the first reset to the result. No ROS here.

The planning thread alone touches the :class:`~explore_context.planning.calibration.Calibration`; what leaves
it are frozen beliefs and plans.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from explore_context.model import Belief
from explore_context.nodes.flight import Decision, PilotSettings, Port, Situation
from explore_context.nodes.pilot import Pilot
from explore_context.nodes.planning_thread import InterruptiblePlanner
from explore_context.nodes.samples import Array
from explore_context.nodes.transition_filter import Judgement, Transition
from explore_context.planning.calibration import Calibration
from explore_context.planning.plan import Plan


class Ending(Enum):
    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    ABORTED = "aborted"


@dataclass(frozen=True)
class Outcome:
    """How a run ended and what it took. Times in seconds."""

    ending: Ending
    message: str
    transitions: int
    rollouts: int
    planning_time_median: float
    planning_time_max: float
    missed_deadlines: int
    duration: float


@dataclass(frozen=True)
class Progress:
    """What is known after a transition, or (``planned``) after a plan; ``plan`` is being executed."""

    rollout: int
    step: int
    belief: Belief
    plan: Plan | None
    planning_time: float
    planned: bool


class CalibrationRun:
    """Feeds a calibration with transitions and the plant with its plans, until all transitions are seen."""

    def __init__(
        self,
        make: Callable[[], Calibration],
        planner: InterruptiblePlanner | None,
        start: Belief,
        port: Port,
        settings: PilotSettings,
        progressed: Callable[[Progress], None],
        ended: Callable[[Outcome], None],
    ) -> None:
        """``make`` is called in the planning thread, because opening a planner's graph takes a while; it
        gives the ``planner`` to the calibration, which begins with the belief ``start``."""
        self._make, self._planner, self._port = make, planner, port
        self._progressed, self._ended = progressed, ended
        self.initial_entropy = start.entropy
        self.belief = start
        self.outcome: Outcome | None = None
        self._samples: int | None = None
        self._transitions = self._rollout = 0
        self._plan: Plan | None = None
        self._planning_times: list[float] = []
        self._started = time.monotonic()
        self._pilot = Pilot(port, settings, self._think, self._on_decision, self._fail)

    @property
    def missed_deadlines(self) -> int:
        return self._pilot.missed_deadlines

    @property
    def planning_time(self) -> float:
        return self._planning_times[-1] if self._planning_times else 0.0

    def start(self) -> None:
        self._port.submit(self._make, self._begin, self._on_error)

    def _begin(self, calibration: Calibration) -> None:
        if self.outcome is None:
            self._calibration, self._settings = calibration, calibration.settings
            self._pilot.begin_rollout()

    def change(self, *, samples: int, margin: float) -> None:
        """Settings that may change while a calibration runs; they hold from the next plan on."""
        self._samples = samples
        self._pilot.settings = replace(self._pilot.settings, margin=margin)

    def on_state(self, judgement: Judgement) -> None:
        transition = judgement.transition
        if self.outcome is None and transition is not None and self._pilot.counts(transition):
            self._port.submit(lambda: self._observe(transition), self._on_belief, self._on_error)
        self._pilot.on_state(judgement)

    def check(self, state_timeout: float) -> None:
        """Keep the command; give up if nothing has gone on for too long."""
        self._pilot.keep_command()
        if problem := self._pilot.stall(state_timeout):
            self._fail(problem)

    def end(self, ending: Ending, message: str = "") -> None:
        """Stop now. Whatever the planning thread is doing is interrupted, the belief stays as it is."""
        if self.outcome is not None:
            return
        self._pilot.stop(complete=ending is Ending.SUCCEEDED)
        if self._planner is not None:
            self._planner.interrupt()
        times = self._planning_times or [0.0]
        self.outcome = Outcome(
            ending,
            message,
            self._transitions,
            self._rollout + 1,
            statistics.median(times),
            max(times),
            self._pilot.missed_deadlines,
            time.monotonic() - self._started,
        )
        self._ended(self.outcome)

    def _observe(self, transition: Transition) -> tuple[Belief, bool] | None:
        """In the planning thread: the belief with this transition, and whether the rollout is complete."""
        calibration = self._calibration
        if calibration.rollout_done or self.outcome is not None:
            return None
        belief = calibration.observe(transition.state, transition.action, transition.following)
        if not (np.isfinite(belief.mean).all() and np.isfinite(belief.std).all()):
            raise ValueError("the belief is not finite")
        return belief, calibration.rollout_done

    def _think(self, situation: Situation) -> Plan | None:
        """In the planning thread: plan, unless what is under way already completes the rollout."""
        calibration = self._calibration
        ahead = int(situation.commanded)
        if self.outcome is not None or calibration.step + ahead >= calibration.settings.transitions:
            return None
        if self._samples is not None and self._samples != calibration.settings.samples:
            calibration.settings = replace(calibration.settings, samples=self._samples)
        state: Array = situation.state
        if situation.under_way is not None:
            state = calibration.predict(state, situation.under_way).astype(np.float64)
        return calibration.next_action(state, situation.deadline, ahead, situation.flight_step)

    def _on_belief(self, result: tuple[Belief, bool] | None) -> None:
        if result is None or self.outcome is not None:
            return
        self.belief, complete = result
        self._transitions += 1
        self._report(planned=False)
        if complete:
            self._complete_rollout()

    def _complete_rollout(self) -> None:
        if self._rollout + 1 >= self._settings.rollouts:
            self.end(Ending.SUCCEEDED)
            return
        self._rollout += 1
        self._plan = None
        self._port.submit(self._calibration.begin_rollout, lambda _: None, self._on_error)
        self._pilot.begin_rollout()

    def _on_decision(self, decision: Decision) -> None:
        if self.outcome is not None or decision.plan is None:
            return
        self._plan = decision.plan
        self._planning_times.append(decision.seconds)
        self._report(planned=True)

    def _report(self, *, planned: bool) -> None:
        progress = Progress(
            self._rollout, self._pilot.step, self.belief, self._plan, self.planning_time, planned
        )
        self._progressed(progress)

    def _fail(self, reason: str) -> None:
        self.end(Ending.ABORTED, reason)

    def _on_error(self, error: Exception) -> None:
        self._fail(f"{type(error).__name__}: {error}")
