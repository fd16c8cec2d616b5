"""The calibrator on the graph: explores a plant and publishes what it learns of its context.

Serves ``~/calibrate``; publishes ``context_belief`` (latched, from configuring on), ``action`` and
``/diagnostics``; listens to ``state`` and ``plant_info``. The executor only passes things on: planning is
done in a thread of its own (``planning_thread``), what a calibration does step by step is told in
``calibration_run`` and ``pilot``. A new goal takes the place of a running one.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from explore_context_interfaces.action import Calibrate
from explore_context_interfaces.msg import ContextBelief
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future

from explore_context.model import Belief, ContextModel
from explore_context.nodes import conversions, qos
from explore_context.nodes.calibration_run import CalibrationRun, Ending, Outcome, Progress
from explore_context.nodes.commander_node import CommanderNode
from explore_context.nodes.commander_parameters import CalibratorParameters
from explore_context.nodes.runtime import run_node
from explore_context.nodes.samples import BeliefSample
from explore_context.nodes.transition_filter import Judgement
from explore_context.planning import Calibration, CalibrationSettings, ExecutionSettings, default_calibration
from explore_context.planning.calibration import Scheme

_STATUS = {
    Ending.SUCCEEDED: ContextBelief.CALIBRATED,
    Ending.CANCELLED: ContextBelief.CANCELLED,
    Ending.ABORTED: ContextBelief.ABORTED,
}


class CalibratorNode(CommanderNode[CalibratorParameters]):
    """One goal at a time; every goal begins with the prior (or the recording of ``prior_bag``, which holds
    for the system of its session only)."""

    GRAPH = "gain"

    def __init__(self, **options: Any) -> None:
        """``options`` are those of every rclpy node."""
        self._run: CalibrationRun | None = None
        self._goal: ServerGoalHandle | None = None
        self._message: ContextBelief | None = None
        self._outcomes: dict[str, int] = {ending.value: 0 for ending in Ending}
        self._last_outcome: Outcome | None = None
        self._belief_session = ""
        super().__init__("calibrator", CalibratorParameters, "calibrator", **options)
        self._beliefs = self.create_publisher(ContextBelief, "context_belief", qos.LATCHED)
        self._server = ActionServer(
            self, Calibrate, "~/calibrate", self._execute, cancel_callback=self._cancel
        )

    # Lifecycle.

    def _load(self, model: ContextModel) -> None:
        self._start_belief = self._belief_of_bag(model) if self.settings.prior_bag else model.prior
        self._belief_session = self.link.info.session_id if self.link.info else ""
        if not self._plant_is_being_calibrated():
            self._publish(model, self._start_belief, ContextBelief.PRIOR)

    def _plant_is_being_calibrated(self) -> bool:
        """By another one, whose belief is in force: a prior beside it would reach late listeners too."""
        publishers = self.get_publishers_info_by_topic("context_belief")
        names = {f"{each.node_namespace.rstrip('/')}/{each.node_name}" for each in publishers}
        return self.link.foreign_commander() in names

    def _belief_of_bag(self, model: ContextModel) -> Belief:
        from explore_context.recording.calibrate import belief_from_bag

        belief = belief_from_bag(self.settings.prior_bag, model)
        self.get_logger().info(f"starting with {belief.transitions} transitions of {self.settings.prior_bag}")
        return belief

    def _begin(self) -> None:
        if self.settings.autostart_calibration:
            problem = self._start(Calibrate.Goal(), lambda ending, result: None)
            if problem:
                self.get_logger().error(f"calibration refused: {problem}")

    def _halt(self, reason: str) -> None:
        if self._run is not None:
            self._run.end(Ending.ABORTED, reason)

    # The action.

    async def _execute(self, goal: ServerGoalHandle) -> Calibrate.Result:
        """Runs in the executor, and leaves it to others until the run's end."""
        if goal.is_cancel_requested:
            goal.canceled()
            return Calibrate.Result(message="cancelled before it began")
        ended = Future(executor=self.executor)
        problem = self._start(goal.request, lambda *result: ended.set_result(result))
        if problem:
            self.get_logger().error(f"calibration refused: {problem}")
            goal.abort()
            return Calibrate.Result(message=problem)
        self._goal = goal
        ending, result = await ended
        if self._goal is goal:
            self._goal = None
        if ending is Ending.SUCCEEDED:
            goal.succeed()
        elif ending is Ending.CANCELLED:
            goal.canceled()
        else:
            goal.abort()
        return result

    def _cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        if self._run is not None and goal is self._goal:
            self._run.end(Ending.CANCELLED, "cancelled by the client")
        return CancelResponse.ACCEPT

    def _start(self, goal: Calibrate.Goal, ended: Callable[[Ending, Calibrate.Result], None]) -> str:
        """Begin a run and return '', or say why not; ``ended`` gets its result."""
        problem = self._plant_problem() if self.active else "the calibrator is not active"
        if not problem and (other := self.link.foreign_commander()):
            problem = f"plant is commanded by {other}"
        if problem:
            return problem
        assert self.model is not None
        try:
            settings = self._goal_settings(goal)
            planned, name = settings.scheme != "random", goal.planner or self.settings.planner
            planner = self._planner(self.model, name) if planned else None
        except ValueError as error:
            return str(error)
        self._halt("preempted by a newer goal")
        model, start, workers = self.model, self._start_belief, self.settings.threads
        seed = goal.seed if goal.seed >= 0 else self.settings.seed
        rejected = self.link.rejections.total

        def make() -> Calibration:
            return Calibration(model, settings, planner, seed, start, ExecutionSettings(workers=workers))

        def finish(outcome: Outcome) -> None:
            self._finished(run, outcome)
            ended(outcome.ending, self._result(run, outcome, self.link.rejections.total - rejected))

        run = CalibrationRun(make, planner, start, self, self.pilot_settings(), self._progressed, finish)
        self._run = run
        self.get_logger().info(
            f"calibrating: {settings.scheme}, {settings.rollouts} x {settings.transitions} transitions, "
            f"seed {seed}"
        )
        self._belief_session = self.pilot_settings().session_id
        self._publish(model, start, ContextBelief.CALIBRATING)
        run.start()
        return ""

    def _goal_settings(self, goal: Calibrate.Goal) -> CalibrationSettings:
        assert self.model is not None
        defaults, node = default_calibration(self.model.manifest.plant), self.settings
        scheme = goal.scheme or node.scheme or defaults.scheme
        return CalibrationSettings(
            scheme=cast(Scheme, scheme),
            transitions=goal.transitions or node.transitions or defaults.transitions,
            rollouts=goal.rollouts or node.rollouts,
            horizon=node.horizon or defaults.horizon,
            samples=node.samples,
            reacts=defaults.reacts,
        )

    # The run.

    def _state(self, judgement: Judgement) -> None:
        if self._run is not None:
            self._run.on_state(judgement)

    def _check(self) -> None:
        if self._run is not None:
            self._run.check(self.settings.state_timeout)

    def _session_changed(self) -> None:
        self._halt("the session changed: the plant restarted or became another system")
        if self._message is None or self.link.info is None:
            return
        if self.model is not None and self._belief_session and self._start_belief is not self.model.prior:
            self.get_logger().warning("another system: prior_bag is not about it, back to the model's prior")
            self._start_belief = self.model.prior
        if self.model is not None and self._message.status == ContextBelief.PRIOR:
            self._belief_session = self.link.info.session_id
            self._publish(self.model, self._start_belief, ContextBelief.PRIOR)
            return
        message = copy.deepcopy(self._message)
        message.status = ContextBelief.STALE
        message.header.stamp = self.get_clock().now().to_msg()
        self._message = message
        self._beliefs.publish(message)

    def _commander_changed(self) -> None:
        if self._run is not None and (other := self.link.foreign_commander()):
            self._run.end(Ending.ABORTED, f"plant is commanded by {other}")

    def _parameters_changed(self, new: CalibratorParameters, old: CalibratorParameters) -> None:
        if self._run is not None:
            self._run.change(samples=new.samples, margin=new.deadline_margin)

    def _progressed(self, progress: Progress) -> None:
        assert self.model is not None and self._run is not None
        gain = progress.plan.score if progress.plan else 0.0
        belief = progress.belief
        if not progress.planned:
            self._publish(self.model, belief, ContextBelief.CALIBRATING, gain)
        if self._goal is None or not progress.planned:
            return
        actions = progress.plan.actions.reshape(-1) if progress.plan else ()
        self._goal.publish_feedback(
            Calibrate.Feedback(
                rollout=progress.rollout,
                step=progress.step,
                entropy=belief.entropy,
                information_gained=self._run.initial_entropy - belief.entropy,
                expected_gain=float(gain),
                planning_time=progress.planning_time,
                planned_actions=conversions.float_list("planned actions", actions),
            )
        )

    def _finished(self, run: CalibrationRun, outcome: Outcome) -> None:
        assert self.model is not None
        self._run = None
        self._last_outcome = outcome
        self._outcomes[outcome.ending.value] += 1
        self._publish(self.model, run.belief, _STATUS[outcome.ending])
        text = (
            f"calibration {outcome.ending.value}: {outcome.transitions} transitions, "
            f"entropy {run.initial_entropy:.2f} -> {run.belief.entropy:.2f} nat in {outcome.duration:.1f} s"
        )
        if outcome.ending is Ending.SUCCEEDED:
            self.get_logger().info(text)
        else:
            self.get_logger().warning(f"{text}: {outcome.message}")

    def _result(self, run: CalibrationRun, outcome: Outcome, rejected: int) -> Calibrate.Result:
        return Calibrate.Result(
            success=outcome.ending is Ending.SUCCEEDED,
            message=outcome.message,
            belief=self._message,
            initial_entropy=run.initial_entropy,
            transitions=outcome.transitions,
            rollouts=outcome.rollouts,
            planning_time_median=outcome.planning_time_median,
            planning_time_max=outcome.planning_time_max,
            missed_deadlines=outcome.missed_deadlines,
            rejected_messages=rejected,
            duration=outcome.duration,
        )

    # The belief.

    def _publish(self, model: ContextModel, belief: Belief, status: int, expected_gain: float = 0.0) -> None:
        sample = BeliefSample(
            session_id=self._belief_session,
            model_hash=model.model_hash,
            mean=belief.mean.astype(float),
            std=belief.std.astype(float),
            entropy=belief.entropy,
            information_gained=model.prior.entropy - belief.entropy,
            expected_gain=float(expected_gain),
            number_of_transitions=belief.transitions,
            embedding=belief.embedding,
            status=status,
        )
        self._message = conversions.belief_message(sample, self.get_clock().now().to_msg())
        self._beliefs.publish(self._message)

    def _values(self) -> dict[str, object]:
        run, last = self._run, self._last_outcome
        missed = run.missed_deadlines if run else last.missed_deadlines if last else 0
        return {
            "calibrating": run is not None,
            "transitions": self._message.number_of_transitions if self._message else 0,
            "entropy": self._message.entropy if self._message else 0.0,
            "planning_time": run.planning_time if run else last.planning_time_median if last else 0.0,
            "planning_time_max": last.planning_time_max if last else 0.0,
            "missed_deadlines": missed,
            **{f"calibrations.{name}": count for name, count in self._outcomes.items()},
        }


def main(args: Sequence[str] | None = None) -> int:
    return run_node(CalibratorNode, args)


if __name__ == "__main__":
    sys.exit(main())
