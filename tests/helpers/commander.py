"""A commander as a process of its own: sends one constant action for every step, until it is killed.

``python -m tests.helpers.commander VALUE [SENDER]``
"""

from __future__ import annotations

import sys

import numpy as np
import rclpy
from explore_context_interfaces.msg import PlantAction, PlantInfo, PlantState

from explore_context.nodes import conversions, qos
from explore_context.nodes.samples import ActionCommand


def main(value: float, sender: str) -> None:
    rclpy.init()
    node = rclpy.create_node("commander")
    publisher = node.create_publisher(PlantAction, "action", qos.ACTION)
    infos: list[PlantInfo] = []
    node.create_subscription(PlantInfo, "plant_info", infos.append, qos.LATCHED)

    def answer(state: PlantState) -> None:
        if infos:
            ahead = 1 if infos[-1].mode == "realtime" else 0
            command = np.full(len(infos[-1].action_low), value)
            action = ActionCommand(state.session_id, state.rollout, state.step + ahead, command, sender)
            publisher.publish(conversions.action_message(action, node.get_clock().now().to_msg()))

    node.create_subscription(PlantState, "state", answer, qos.STATE)
    rclpy.spin(node)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "commander")
