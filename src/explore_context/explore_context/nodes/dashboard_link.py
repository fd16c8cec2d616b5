"""One robot as the dashboard sees it: subscriptions that only pass on, and the clients behind the buttons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from explore_context_interfaces.action import Calibrate
from explore_context_interfaces.msg import ContextBelief, PlantInfo, PlantState
from explore_context_interfaces.srv import Reset
from rclpy.action import ActionClient
from rclpy.node import Node

from explore_context.dashboard import commands
from explore_context.dashboard.hub import Hub
from explore_context.nodes import qos

_ENDINGS = {
    GoalStatus.STATUS_SUCCEEDED: "succeeded",
    GoalStatus.STATUS_CANCELED: "cancelled",
    GoalStatus.STATUS_ABORTED: "aborted",
}


class RobotLink:
    """Follows the topics of one namespace; every callback hands its message to the hub and is done."""

    def __init__(self, node: Node, namespace: str, hub: Hub) -> None:
        self._node, self._hub, self.namespace = node, hub, namespace
        self._info_topic = self._name("plant_info")
        self._belief_topic = self._name("context_belief")
        node.create_subscription(PlantInfo, self._info_topic, self._pass_on("info"), qos.LATCHED)
        node.create_subscription(ContextBelief, self._belief_topic, self._pass_on("belief"), qos.LATCHED)
        node.create_subscription(PlantState, self._name("state"), self._pass_on("state"), qos.STATE)
        # Where an action server sends feedback; listening in shows the goals of other clients too.
        feedback = self._name("calibrator/calibrate/_action/feedback")
        node.create_subscription(Calibrate.Impl.FeedbackMessage, feedback, self._on_feedback, 10)

    @property
    def online(self) -> bool:
        return any(self._node.count_publishers(topic) for topic in (self._info_topic, self._belief_topic))

    @property
    def has_calibrator(self) -> bool:
        return self._node.count_publishers(self._belief_topic) > 0

    def _on_feedback(self, message: Any) -> None:
        self._hub.post(self.namespace, "feedback", message.feedback)

    def _pass_on(self, kind: str) -> Callable[[Any], None]:
        return lambda message: self._hub.post(self.namespace, kind, message)

    def _name(self, relative: str) -> str:
        return f"{self.namespace.rstrip('/')}/{relative}"


class RobotControl:
    """Carries out commands on one robot and says on the page what became of them."""

    def __init__(self, node: Node, namespace: str, hub: Hub) -> None:
        self._node, self._hub, self._namespace = node, hub, namespace
        self._open: Any = None
        base = namespace.rstrip("/")
        action = f"{base}/calibrator/calibrate"
        self._calibrate = ActionClient(node, Calibrate, action)
        self._cancel = node.create_client(CancelGoal, f"{action}/_action/cancel_goal")
        self._reset = node.create_client(Reset, f"{base}/plant/reset")

    def execute(self, command: commands.Command) -> None:
        self._node.get_logger().info(f"asked by the page: {command}")
        if isinstance(command, commands.Calibrate):
            self._start(command)
        elif isinstance(command, commands.Cancel):
            self._cancel_all()
        elif isinstance(command, commands.NewSystem):
            self._new_system(command)

    def check(self) -> None:
        """An action whose server is gone never ends by itself: say so, and let the page start another one."""
        if self._open is not None and not self._calibrate.server_is_ready():
            self._open = None
            self._say("lost", "the calibrator is gone; once it is back and active, start again")

    def _start(self, command: commands.Calibrate) -> None:
        if not self._calibrate.server_is_ready():
            self._say("failed", "no calibrator answers; is it running and active?")
            return
        self._say("sending")
        goal = Calibrate.Goal(
            scheme=command.scheme,
            transitions=command.transitions,
            rollouts=command.rollouts,
            planner=command.planner,
            seed=command.seed,
        )
        self._open = future = self._calibrate.send_goal_async(goal)
        future.add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        if future is not self._open:
            return
        handle = future.result()
        if not handle.accepted:
            self._open = None
            self._say("refused", "the calibrator did not accept the goal; its log and diagnostics say why")
            return
        self._say("running")
        self._open = result = handle.get_result_async()
        result.add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        """Of an older goal, whose end a newer one has caused, nobody wants to hear any more."""
        if future is not self._open:
            return
        self._open = None
        answer = future.result()
        result = answer.result
        message = result.message or (
            f"{result.transitions} transitions in {result.duration:.1f} s, "
            f"{result.initial_entropy - result.belief.entropy:.2f} nat gained, "
            f"planning {1000 * result.planning_time_median:.0f} ms (median)"
        )
        self._say(_ENDINGS.get(answer.status, "ended"), message)

    def _cancel_all(self) -> None:
        """A request without an id and without a time cancels every goal, whoever sent it."""
        if not self._cancel.service_is_ready():
            self._say("failed", "no calibrator answers")
            return
        self._cancel.call_async(CancelGoal.Request()).add_done_callback(self._on_cancelled)

    def _on_cancelled(self, future: Any) -> None:
        if not future.result().goals_canceling:
            self._say("idle", "nothing to cancel")

    def _new_system(self, command: commands.NewSystem) -> None:
        if not self._reset.service_is_ready():
            self._say("failed", "this plant cannot be reset from here (no plant/reset service)")
            return
        request = Reset.Request(new_system=True, seed=command.seed)
        self._reset.call_async(request).add_done_callback(self._on_reset)

    def _on_reset(self, future: Any) -> None:
        answer = future.result()
        self._say("new system" if answer.success else "failed", answer.message)

    def _say(self, state: str, message: str = "") -> None:
        self._hub.post(self._namespace, "goal", {"state": state, "message": message})
