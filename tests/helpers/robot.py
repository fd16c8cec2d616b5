"""A robot as ros2_control shows it: joint states out, commands in."""

from __future__ import annotations

from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from tests.helpers.ros import Graph

from explore_context.plants import get_plant

# What the bridge must know of it.
PARAMETERS: dict[str, Any] = {
    "observation_names": ["cos_angle", "sin_angle", "angular_velocity"],
    "offset_joints": ["pendulum_joint"],
    "offsets": [-np.pi],
    "watchdog_time": 2.0,
}


class Robot:
    """A pendulum behind joint_states and a command topic; its zero hangs down, the model's is upright."""

    def __init__(self, graph: Graph, commands: str = "commands") -> None:
        self.node = graph.node
        self._plant, self._rng = get_plant("pendulum"), np.random.default_rng(0)
        self._state = self._plant.initial_state("calibration", self._rng, 1)
        self._context = np.array([[1.0, 1.2, 0.8, 1.5]])
        self.commands: list[float] = [0.0]
        self._publisher = self.node.create_publisher(JointState, "joint_states", 10)
        self.node.create_subscription(Float64MultiArray, commands, self._take, 10)
        self.node.create_timer(0.1, self._step)

    def _take(self, message: Float64MultiArray) -> None:
        self.commands.append(message.data[0])

    def _step(self) -> None:
        self._state = self._plant.step(self._state, np.array([[self.commands[-1]]]), self._context, self._rng)
        angle, speed = self._state[0]
        joint = JointState(name=["pendulum_joint"], position=[angle + np.pi], velocity=[speed])
        self._publisher.publish(joint)
