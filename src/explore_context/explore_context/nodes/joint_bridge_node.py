"""Any robot under ros2_control as a plant: ``sensor_msgs/JointState`` in, ``std_msgs/Float64MultiArray`` out.

Speaks ``state``, ``action``, ``plant_info`` and ``~/reset`` as a realtime plant node does, so that calibrator
and controller cannot tell the difference. ``joint_states`` comes from the robot's joint_state_broadcaster,
``commands`` goes to a forward command controller (remap it, e.g. ``-r
commands:=/forward_effort_controller/commands``). A pendulum::

    /**/plant:
      ros__parameters:
        plant: pendulum
        observation: ["pendulum_joint:cos", "pendulum_joint:sin", "pendulum_joint:velocity"]
        observation_names: ["cos_angle", "sin_angle", "angular_velocity"]
        offset_joints: ["pendulum_joint"]
        offsets: [3.14159265]        # this robot's zero hangs down, the model's zero is upright
        action_low: [-2.0]
        action_high: [2.0]
        period: 0.1
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from explore_context_interfaces.msg import PlantAction, PlantInfo, PlantState
from explore_context_interfaces.srv import Reset
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from explore_context.nodes import conversions, qos
from explore_context.nodes.counters import Rate, Rejections
from explore_context.nodes.diagnostics import Diagnostics, Level, Report, control_clock, steady_clock
from explore_context.nodes.joint_mapping import ObservationMapping
from explore_context.nodes.parameters import NodeParameters, parameter
from explore_context.nodes.robot_session import RobotSession
from explore_context.nodes.runtime import run_node
from explore_context.nodes.samples import PlantDescription, RejectedMessage


@dataclass(frozen=True)
class BridgeParameters:
    """All structural: a robot does not change its joints while it runs."""

    plant: str = parameter("pendulum", "Name under which the model knows this robot.", read_only=True)
    observation: tuple[str, ...] = parameter(
        ("pendulum_joint:cos", "pendulum_joint:sin", "pendulum_joint:velocity"),
        "Each entry joint:quantity; quantity is position, velocity, effort, cos or sin.",
        read_only=True,
    )
    observation_names: tuple[str, ...] = parameter(
        (), "Names of the entries on plant_info; empty: joint_quantity.", read_only=True
    )
    offset_joints: tuple[str, ...] = parameter((), "Joints whose zero is elsewhere.", read_only=True)
    offsets: tuple[float, ...] = parameter((), "What to add to those joints' positions.", read_only=True)
    action_low: tuple[float, ...] = parameter((-2.0,), "Lower bound of each command.", read_only=True)
    action_high: tuple[float, ...] = parameter((2.0,), "Upper bound of each command.", read_only=True)
    period: float = parameter(0.1, "Seconds between two steps.", low=1e-3, high=60.0, read_only=True)
    watchdog_time: float = parameter(
        0.5, "Seconds of silence of commander or robot until the command is zero.", low=2e-3, read_only=True
    )

    def __post_init__(self) -> None:
        self.mapping()
        names = self.observation_names
        if names and len(names) != len(self.observation):
            raise ValueError("parameter 'observation_names' must name every entry of 'observation'")
        if not self.action_low or len(self.action_low) != len(self.action_high):
            raise ValueError("parameters 'action_low' and 'action_high' must have one entry per command")
        if not all(low <= 0.0 <= high for low, high in zip(self.action_low, self.action_high, strict=True)):
            raise ValueError("zero, the safe command, must lie within 'action_low' and 'action_high'")
        if self.watchdog_time < 2 * self.period:
            raise ValueError("parameter 'watchdog_time' must be at least two periods")

    def mapping(self) -> ObservationMapping:
        if len(self.offsets) != len(self.offset_joints):
            raise ValueError("parameters 'offset_joints' and 'offsets' must have the same length")
        return ObservationMapping.parse(
            self.observation, dict(zip(self.offset_joints, self.offsets, strict=True))
        )


class JointBridgeNode(Node):
    """Named ``plant`` like any plant, so that launch files and services need not know."""

    def __init__(self, **options: Any) -> None:
        super().__init__("plant", **options)
        self._settings = NodeParameters(self, BridgeParameters).value
        self._mapping = self._settings.mapping()
        low, high = np.array(self._settings.action_low), np.array(self._settings.action_high)
        self._session = RobotSession(low, high, self._settings.period, self._settings.watchdog_time)
        self._rejections, self._joint_rate = Rejections(), Rate()
        self._info: PlantDescription | None = None
        self._state_publisher = self.create_publisher(PlantState, "state", qos.STATE)
        self._info_publisher = self.create_publisher(PlantInfo, "plant_info", qos.LATCHED)
        self._command_publisher = self.create_publisher(Float64MultiArray, "commands", 10)
        self.create_subscription(JointState, "joint_states", self._on_joints, qos_profile_sensor_data)
        self.create_subscription(PlantAction, "action", self._on_action, qos.ACTION)
        self.create_service(Reset, "~/reset", self._on_reset)
        self._clock = control_clock(self)
        self._timer = self.create_timer(self._settings.period, self._on_tick, clock=self._clock)
        self.create_timer(self._settings.watchdog_time / 5, self._on_watchdog, clock=steady_clock())
        self._diagnostics = Diagnostics(self, "joint bridge", self._report)
        self._publish_info_if_changed()

    def _now(self) -> float:
        return float(self._clock.now().nanoseconds) * 1e-9

    def _on_joints(self, message: JointState) -> None:
        fields = (message.position, message.velocity, message.effort)
        vectors = [conversions.float_array(field) for field in fields]
        try:
            self._session.observe(self._mapping.observe(message.name, *vectors), self._now())
        except RejectedMessage as error:
            self._reject(error)
            return
        self._joint_rate.add()

    def _on_action(self, message: PlantAction) -> None:
        try:
            action = conversions.action_from_message(message, len(self._settings.action_low))
            self._session.offer(action, self._now())
        except RejectedMessage as error:
            self._reject(error)
            return
        self._publish_info_if_changed()

    def _reject(self, error: RejectedMessage) -> None:
        self._rejections.add(error.reason)
        self.get_logger().warning(f"{error.reason.value}: {error}", throttle_duration_sec=1.0)

    def _on_tick(self) -> None:
        sample = self._session.tick(self._now())
        self._command_publisher.publish(conversions.command_message(self._session.command))
        if self._session.step < 0:
            self.get_logger().warning("no joint states: command zero", throttle_duration_sec=5.0)
        if sample is not None:
            self._state_publisher.publish(conversions.state_message(sample, self.get_clock().now().to_msg()))
        self._publish_info_if_changed()

    def _on_watchdog(self) -> None:
        if self._session.authority.expire(self._now()):
            self.get_logger().warning("commander is silent: command released, zero from the next step on")
            self._publish_info_if_changed()

    def _on_reset(self, request: Reset.Request, response: Reset.Response) -> Reset.Response:
        response.success = not request.state
        if request.state:
            response.message = "a robot cannot be put into an explicit state; leave 'state' empty"
        else:
            self._session.reset(new_system=request.new_system)
            self._command_publisher.publish(conversions.command_message(self._session.command))
            self._timer.reset()
            self._publish_info_if_changed()
        response.session_id = self._session.session_id
        return response

    def _publish_info_if_changed(self) -> None:
        parameters = self._settings
        info = PlantDescription(
            session_id=self._session.session_id,
            plant=parameters.plant,
            mode="realtime",
            period=parameters.period,
            observation_names=parameters.observation_names or self._mapping.names,
            action_low=parameters.action_low,
            action_high=parameters.action_high,
            commander=self._session.authority.commander,
        )
        if info != self._info:
            self._info = info
            self._info_publisher.publish(conversions.info_message(info, self.get_clock().now().to_msg()))

    def _report(self) -> Report:
        session, silent = self._session, self._session.step < 0
        return Report(
            "no joint states" if silent else "running",
            level=Level.ERROR if silent else Level.OK,
            values={
                "plant": self._settings.plant,
                "session": session.session_id,
                "rollout": session.rollout,
                "step": session.step,
                "commander": session.authority.commander,
                "joint_states_per_second": self._joint_rate.report(time.monotonic()),
                "steps_without_joint_states": session.steps_unseen,
                "watchdog_stops": session.authority.watchdog_stops,
                **self._rejections.values(),
            },
        )

    def stop(self) -> None:
        """Leave the robot without a command: a controller holds the last one that it got, so the zero must
        arrive before the process ends."""
        self._session.authority.release()
        zero = np.zeros(len(self._settings.action_low))
        self._command_publisher.publish(conversions.command_message(zero))
        self._command_publisher.wait_for_all_acked(qos.ACKNOWLEDGEMENT)
        self._publish_info_if_changed()


def main(args: Sequence[str] | None = None) -> int:
    return run_node(JointBridgeNode, args)


if __name__ == "__main__":
    sys.exit(main())
