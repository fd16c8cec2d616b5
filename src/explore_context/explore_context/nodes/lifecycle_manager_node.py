"""Brings lifecycle nodes up in order, starts the calibration and sums it up: what a launch file needs beside
its nodes.

All nodes are configured, then all activated, in the order of the parameter ``nodes``. Then, if told to, it
sends the goal, prints a line now and then, waits for the return of the swing-up and prints a summary. The
process ends by itself when there is nothing left to do; its exit code is 1 if something failed.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from explore_context_interfaces.action import Calibrate
from explore_context_interfaces.msg import PlantInfo, PlantState
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from std_msgs.msg import Bool, Float64

from explore_context.nodes import conversions, qos
from explore_context.nodes.companion import Companion
from explore_context.nodes.diagnostics import Diagnostics, Report, steady_clock
from explore_context.nodes.manager_parameters import ManagerParameters
from explore_context.nodes.namesakes import full_name, namesakes
from explore_context.nodes.parameters import NodeParameters
from explore_context.nodes.runtime import run_node
from explore_context.nodes.samples import PlantDescription, RejectedMessage
from explore_context.nodes.summary import CalibrationFacts, Coverage, summary
from explore_context.nodes.swing_up_run import upright

_POLL = 0.05
_ANSWER = 2.0  # seconds in which a living node tells its state
_TRANSITION = 10.0  # seconds for a transition; loading a model takes most of them
_SPECTATORS = 15.0  # seconds for all of them together to find everybody
_LINES = 6  # of progress in one calibration, about
# Deep enough for a lockstep plant that is faster than this process for a while.
_EVERY_STATE = QoSProfile(depth=2000)


class ManagerError(RuntimeError):
    """Bring-up or calibration failed; the text says what and where to look."""


class LifecycleManagerNode(Node):
    """A small program in one coroutine; the executor runs it between everything else."""

    def __init__(self, **options: Any) -> None:
        super().__init__("lifecycle_manager", **options)
        self._settings = NodeParameters(self, ManagerParameters).value
        self.exit_code: int | None = None
        self._doing = "starting"
        self._info: PlantDescription | None = None
        self._coverage: Coverage | None = None
        self._newest: Any = None
        self._swing_up: tuple[float, bool] | None = None
        self._goal: Any = None
        self._printed = 0
        self._diagnostics = Diagnostics(self, "lifecycle manager", lambda: Report(self._doing))
        self._first = self.create_timer(0.0, self._begin, clock=steady_clock())

    def _begin(self) -> None:
        """As a task of the executor: a timer's own coroutine would lock all other callbacks out."""
        self._first.cancel()
        self.executor.create_task(self._run)

    async def _run(self) -> None:
        try:
            await self._bring_up()
            if self._settings.calibrate:
                await self._calibrate()
            self.exit_code = 0
        except ManagerError as error:
            self.get_logger().error(str(error))
            self.exit_code = 1

    # Bring-up.

    async def _bring_up(self) -> None:
        steps = (
            ("configure", Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE),
            ("activate", Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE),
        )
        for word, transition, goal in steps:
            for name in self._settings.nodes:
                self._doing = f"{word} {name}"
                await self._change(name, word, transition, goal)
                self._check_names(name)
        self.get_logger().info(f"active: {', '.join(self._settings.nodes)}")

    def _check_names(self, name: str) -> None:
        """The same launch started twice: this one's goal would take the place of the other one's."""
        for each in (self.get_fully_qualified_name(), full_name(self, name)):
            if namesakes(self, each) > 1:
                raise ManagerError(
                    f"two nodes named {each} are on the graph; end the other one, or start this one in a "
                    "namespace of its own"
                )

    async def _state_of(self, name: str) -> int:
        """Asked again and again: DDS believes in a dead predecessor of the node for a while, and what was
        sent to that one is lost."""
        deadline = time.monotonic() + self._settings.timeout
        while True:
            try:
                response = await self._call(GetState, f"{name}/get_state", GetState.Request(), _ANSWER)
                return int(response.current_state.id)
            except ManagerError:
                if time.monotonic() > deadline:
                    raise

    async def _change(self, name: str, word: str, transition: int, goal: int) -> None:
        """Until the node is, or is beyond, the state ``goal``; an answer that got lost does not matter."""
        request = ChangeState.Request(transition=Transition(id=transition))
        deadline = time.monotonic() + self._settings.timeout
        while (state := await self._state_of(name)) < goal:
            try:
                response = await self._call(ChangeState, f"{name}/change_state", request, _TRANSITION)
            except ManagerError:
                if time.monotonic() > deadline:
                    raise
                continue
            if not response.success:
                raise ManagerError(f"cannot {word} {name}; its log says why")
        if state == State.PRIMARY_STATE_FINALIZED:
            raise ManagerError(f"cannot {word} {name}: it was shut down; start it again")

    async def _call(self, kind: Any, service: str, request: Any, timeout: float) -> Any:
        client = self.create_client(kind, service)
        try:
            await self._until(client.service_is_ready, timeout, f"service {service}")
            future = client.call_async(request)
            await self._until(future.done, timeout, f"an answer of {service}")
            return future.result()
        finally:
            self.destroy_client(client)

    async def _until(
        self,
        condition: Callable[[], object],
        timeout: float,
        what: str,
        problem: Callable[[], str] = lambda: "",
    ) -> None:
        """Come back when ``condition`` holds; ManagerError at the deadline, or as soon as there is a
        ``problem``."""
        if condition():
            return
        deadline, done = time.monotonic() + timeout, Future(executor=self.executor)

        def look() -> None:
            if not done.done() and (condition() or problem() or time.monotonic() > deadline):
                done.set_result(None)

        timer = self.create_timer(_POLL, look, clock=steady_clock())
        try:
            await done
        finally:
            self.destroy_timer(timer)
        if not condition():
            raise ManagerError(problem() or f"waited {timeout:g} s for {what} in vain")

    # Calibration.

    async def _calibrate(self) -> None:
        self.create_subscription(PlantInfo, "plant_info", self._on_info, qos.LATCHED)
        self.create_subscription(PlantState, "state", self._on_state, _EVERY_STATE)
        self.create_subscription(Float64, "swing_up_return", self._on_return, qos.LATCHED)
        await self._until(lambda: self._info, self._settings.timeout, "plant_info")
        assert self._info is not None
        await self._wait_for_spectators()
        self._coverage = coverage = Coverage(self._info.plant)
        result = await self._send_goal()
        self._coverage = None
        self._swing_up = None  # a return that came before is of another calibration
        facts = self._facts(self._info.plant, result)
        if not result.success:
            self._print(summary(facts, coverage))
            raise ManagerError(f"calibration failed: {result.message}")
        swing_up = await self._return(self._info.session_id) if self._settings.wait_for_return else None
        self._print(summary(facts, coverage, swing_up))

    async def _wait_for_spectators(self) -> None:
        """Discovery may take seconds, and a recording without its first transitions is not the run. A
        spectator that fails is no reason not to calibrate."""
        self._doing = "waiting for spectators"
        silent = {f"{name}/ready" for name in self._settings.spectators}
        for topic in tuple(silent):
            self.create_subscription(Bool, topic, lambda _, topic=topic: silent.discard(topic), qos.LATCHED)
        try:
            await self._until(lambda: not silent, _SPECTATORS, "all spectators")
        except ManagerError:
            self.get_logger().warning(
                f"waited {_SPECTATORS:g} s for {', '.join(sorted(silent))} in vain; "
                "the beginning of the run may be missed there"
            )

    async def _send_goal(self) -> Calibrate.Result:
        """A result has no deadline, but the node that owes it must be there."""
        self._doing = "calibrating"
        client = ActionClient(self, Calibrate, "calibrator/calibrate")
        calibrator = Companion(self, "calibrator")
        try:
            await self._until(client.server_is_ready, self._settings.timeout, "action calibrator/calibrate")
            sent = client.send_goal_async(Calibrate.Goal(), feedback_callback=self._on_feedback)
            await self._until(sent.done, self._settings.timeout, "the goal's acceptance", calibrator.problem)
            goal = sent.result()
            if not goal.accepted:
                raise ManagerError("the calibrator did not accept the goal")
            self._goal, result = goal, goal.get_result_async()
            await self._until(result.done, math.inf, "the calibration", calibrator.problem)
            self._goal = None
            return result.result().result
        finally:
            calibrator.close()
            client.destroy()

    async def _return(self, session: str) -> tuple[float, bool] | None:
        self._doing = "waiting for the swing-up"
        controller = Companion(self, "swing_up_controller")

        def problem() -> str:
            if self._info is None or self._info.session_id != session:
                return "the plant became another system before the swing-up had ended"
            return controller.problem()

        try:
            timeout = self._settings.return_timeout
            await self._until(lambda: self._swing_up, timeout, "swing_up_return", problem)
        finally:
            controller.close()
        return self._swing_up

    def _on_info(self, message: PlantInfo) -> None:
        try:
            self._info = conversions.info_from_message(message)
        except RejectedMessage as error:
            self.get_logger().warning(f"{error.reason.value}: {error}", throttle_duration_sec=1.0)

    def _on_state(self, message: PlantState) -> None:
        if self._info is None:
            return
        try:
            sample = conversions.state_from_message(
                message, self._info.observation_dim, self._info.action_dim
            )
        except RejectedMessage:
            return
        self._newest = sample.observation
        if self._coverage is not None:
            self._coverage.add(sample.observation)

    def _on_return(self, message: Float64) -> None:
        """The end of the episode is now: afterwards the controller may let the pendulum fall."""
        self._swing_up = message.data, self._newest is not None and upright(self._newest)

    def _on_feedback(self, message: Any) -> None:
        """A line each time another part of the expected information has come in."""
        feedback = message.feedback
        total = max(feedback.information_gained + feedback.expected_gain, 1e-9)
        part = int(_LINES * feedback.information_gained / total)
        if feedback.step == 0 or part > self._printed:
            self._printed = part
            self.get_logger().info(
                f"step {feedback.step}: entropy {feedback.entropy:.2f} nat, expected gain of the plan "
                f"{feedback.expected_gain:.2f} nat, planned in {1000 * feedback.planning_time:.0f} ms"
            )

    def _facts(self, plant: str, result: Calibrate.Result) -> CalibrationFacts:
        return CalibrationFacts(
            plant=plant,
            success=result.success,
            message=result.message,
            initial_entropy=result.initial_entropy,
            entropy=result.belief.entropy,
            transitions=result.transitions,
            rollouts=result.rollouts,
            planning_time_median=result.planning_time_median,
            planning_time_max=result.planning_time_max,
            missed_deadlines=result.missed_deadlines,
            rejected_messages=result.rejected_messages,
            duration=result.duration,
        )

    def _print(self, lines: Sequence[str]) -> None:
        print("\n".join(lines), flush=True)

    def stop(self) -> None:
        """Interrupted in the middle: the goal must not outlive its client."""
        if self._goal is not None and self.executor is not None:
            cancelled = self._goal.cancel_goal_async()
            self.executor.spin_until_future_complete(cancelled, timeout_sec=1.0)


def main(args: Sequence[str] | None = None) -> int:
    return run_node(LifecycleManagerNode, args)


if __name__ == "__main__":
    sys.exit(main())
