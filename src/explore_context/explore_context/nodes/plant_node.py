"""The simulated plant on the graph: executables ``toy_plant``, ``pendulum_plant`` and ``mountain_car_plant``.

Publishes ``state``, ``plant_info`` (latched), ``joint_states`` and ``/diagnostics``; takes ``action``; serves
``~/reset``. ``lockstep`` advances when the action of the current step arrives; ``realtime`` advances on a
timer. Who may command and what the watchdog does is told in ``command``; what a session and a rollout are, in
``plant_session``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from explore_context_interfaces.msg import PlantAction, PlantInfo, PlantState
from explore_context_interfaces.srv import Reset
from rclpy.node import Node
from sensor_msgs.msg import JointState

from explore_context.nodes import conversions, qos
from explore_context.nodes.counters import Rate, Rejections
from explore_context.nodes.diagnostics import Diagnostics, Level, Report, control_clock, steady_clock
from explore_context.nodes.joint_mapping import layout_of
from explore_context.nodes.parameters import NodeParameters
from explore_context.nodes.plant_parameters import PlantParameters, validate
from explore_context.nodes.plant_session import PlantSession, ResetRequest
from explore_context.nodes.runtime import run_node
from explore_context.nodes.samples import PlantDescription, RejectedMessage
from explore_context.plants import get_plant

DEFAULT_PLANTS = {
    "toy_plant": "toy_inner",
    "pendulum_plant": "pendulum",
    "mountain_car_plant": "mountain_car",
}


class PlantNode(Node):
    """Converts, asks the session, publishes."""

    def __init__(self, default_plant: str = "pendulum", **options: Any) -> None:
        """``options`` go to rclpy's Node (context, namespace, parameter_overrides, ...)."""
        super().__init__("plant", **options)
        self._settings = NodeParameters(
            self,
            PlantParameters,
            defaults={"plant": default_plant},
            validate=validate,
            on_change=self._parameters_changed,
        )
        settings = self._settings.value
        plant = get_plant(settings.plant)
        self._session = PlantSession(plant, settings.session_settings(plant))
        self._layout = layout_of(plant.spec)
        self._rejections = Rejections()
        self._reported_rejections = 0
        self._step_rate, self._action_rate = Rate(), Rate()
        self._info: PlantDescription | None = None
        self._clock = control_clock(self)
        self._create_interfaces()
        self._create_timers()
        self._publish_info()
        self._publish_state()
        self.get_logger().info(
            f"{settings.plant}, {settings.mode}, session {self._session.session_id}, seed {settings.seed}"
        )

    def _create_interfaces(self) -> None:
        self._state_publisher = self.create_publisher(PlantState, "state", qos.STATE)
        self._info_publisher = self.create_publisher(PlantInfo, "plant_info", qos.LATCHED)
        self._joint_publisher = self.create_publisher(JointState, "joint_states", 10)
        self.create_subscription(PlantAction, "action", self._on_action, qos.ACTION)
        self.create_service(Reset, "~/reset", self._on_reset)
        self._diagnostics = Diagnostics(self, "plant", self._report)

    def _create_timers(self) -> None:
        settings, session = self._settings.value, self._session.settings
        self._tick_timer = self._republish_timer = None
        if session.mode == "realtime":
            self._tick_timer = self.create_timer(session.period, self._on_tick, clock=self._clock)
        elif settings.state_republish_period > 0:
            # On the steady clock, as the watchdog's timer: a stopped simulation clock must not stop recovery.
            self._republish_timer = self.create_timer(
                settings.state_republish_period, self._republish_state, clock=steady_clock()
            )
        interval = min(max(session.watchdog_time / 5, 0.01), 0.1)
        self.create_timer(interval, self._on_watchdog, clock=steady_clock())

    def _now(self) -> float:
        return float(self._clock.now().nanoseconds) * 1e-9

    def _on_action(self, message: PlantAction) -> None:
        try:
            action = conversions.action_from_message(message, self._session.plant.spec.action_dim)
            advanced = self._session.offer(action, self._now())
        except RejectedMessage as error:
            self._rejections.add(error.reason)
            self.get_logger().warning(f"{error.reason.value}: {error}", throttle_duration_sec=1.0)
            return
        self._action_rate.add()
        self._publish_info_if_changed()
        if advanced:
            self._step_rate.add()
            self._publish_state()

    def _on_tick(self) -> None:
        self._session.tick(self._now())
        self._step_rate.add()
        self._publish_state()

    def _on_watchdog(self) -> None:
        commander = self._session.authority.commander
        if self._session.authority.expire(self._now()):
            self.get_logger().warning(f"{commander!r} is silent: command released, action zero")
            self._publish_info_if_changed()

    def _on_reset(self, request: Reset.Request, response: Reset.Response) -> Reset.Response:
        try:
            self._session.reset(
                ResetRequest(
                    request.initial_state_mode,
                    tuple(conversions.float_array(request.state).tolist()),
                    request.seed,
                    request.new_system,
                )
            )
        except ValueError as error:
            self.get_logger().warning(f"reset refused: {error}")
            response.success, response.message = False, str(error)
        else:
            response.success = True
            self._publish_new_rollout()
        response.session_id = self._session.session_id
        return response

    def _parameters_changed(self, new: PlantParameters, old: PlantParameters) -> None:
        self._session.authority.watchdog_time = new.session_settings(self._session.plant).watchdog_time
        if new.hidden_context != old.hidden_context:
            self._session.change_hidden_context(new.hidden_context)
            self._publish_new_rollout()
        else:
            self._publish_info_if_changed()

    def _publish_new_rollout(self) -> None:
        if self._tick_timer is not None:
            self._tick_timer.reset()  # so that step 0 lasts a whole period
        self._publish_info_if_changed()
        self._publish_state()

    def _publish_info_if_changed(self) -> None:
        if self._describe() != self._info:
            self._publish_info()

    def _publish_info(self) -> None:
        self._info = self._describe()
        self._info_publisher.publish(conversions.info_message(self._info, self.get_clock().now().to_msg()))

    def _describe(self) -> PlantDescription:
        return self._session.describe(hidden_context=self._settings.value.publish_hidden_context)

    def _publish_state(self) -> None:
        stamp = self.get_clock().now().to_msg()
        self._state_message = conversions.state_message(self._session.sample(), stamp)
        self._state_publisher.publish(self._state_message)
        state, action = self._session.state[0], self._session.applied_action
        layout = self._layout
        effort = action[list(layout.effort)] if action.size else action
        self._joint_publisher.publish(
            conversions.joint_state_message(
                layout.names, state[list(layout.position)], state[list(layout.velocity)], effort, stamp
            )
        )
        if self._republish_timer is not None:
            self._republish_timer.reset()

    def _republish_state(self) -> None:
        """Say it again, same step and stamp, to late joiners and to those who lost the message."""
        self._state_publisher.publish(self._state_message)

    def _report(self) -> Report:
        now = time.monotonic()
        session = self._session
        new = self._rejections.total - self._reported_rejections
        self._reported_rejections = self._rejections.total
        return Report(
            message=f"{new} messages rejected" if new else "running",
            level=Level.WARN if new else Level.OK,
            values={
                "plant": session.plant.spec.name,
                "mode": session.settings.mode,
                "session": session.session_id,
                "rollout": session.rollout,
                "step": session.step,
                "commander": session.authority.commander,
                "steps_per_second": self._step_rate.report(now),
                "actions_per_second": self._action_rate.report(now),
                "watchdog_stops": session.authority.watchdog_stops,
                **self._rejections.values(),
            },
        )

    def stop(self) -> None:
        """The plant's own goodbye: the motor is off and nobody commands."""
        self._session.authority.release()
        self._publish_info_if_changed()


def main(args: Sequence[str] | None = None) -> int:
    executable = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    return run_node(lambda: PlantNode(DEFAULT_PLANTS.get(executable, "pendulum")), args)


if __name__ == "__main__":
    sys.exit(main())
