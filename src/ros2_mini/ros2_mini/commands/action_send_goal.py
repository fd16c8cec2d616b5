"""Send an action goal."""

from __future__ import annotations

import argparse
from typing import Any

from ros2_mini import graph, interfaces

_STATUS = ("UNKNOWN", "ACCEPTED", "EXECUTING", "CANCELING", "SUCCEEDED", "CANCELED", "ABORTED")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action_name", help="name of the ROS action (e.g. '/fibonacci')")
    parser.add_argument(
        "action_type", help="type of the ROS action (e.g. 'example_interfaces/action/Fibonacci')"
    )
    parser.add_argument("goal", nargs="?", default="{}", help="goal request values in YAML format")
    parser.add_argument("-f", "--feedback", action="store_true", help="echo feedback messages for the goal")


def main(args: argparse.Namespace) -> int:
    from rclpy.action import ActionClient

    from ros2_mini.message_fill import fill, parse_values

    cls = interfaces.get_class(args.action_type, "action")
    goal = cls.Goal()
    fill(goal, parse_values(args.goal, "goal"))
    # Ctrl-C must not end the node, because it has the goal to cancel then.
    with graph.graph_node(handle_signals=False) as node:
        client = ActionClient(node, cls, graph.expand(args.action_name))
        try:
            return _send(node, client, goal, feedback=args.feedback)
        finally:
            client.destroy()


def _send(node: Any, client: Any, goal: Any, *, feedback: bool) -> int:
    from ros2_mini.message_text import to_yaml

    def on_feedback(message: Any) -> None:
        print(f"Feedback:\n    {to_yaml(message.feedback)}", flush=True)

    print("Waiting for an action server to become available...", flush=True)
    while not client.wait_for_server(timeout_sec=0.5):
        pass
    print(f"Sending goal:\n     {to_yaml(goal)}", flush=True)
    sent = client.send_goal_async(goal, on_feedback if feedback else None)
    handle = graph.spin_until(node, sent, client.server_is_ready)
    if not handle.accepted:
        print("Goal was rejected.")
        return 0
    print(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n", flush=True)
    try:
        result = graph.spin_until(node, handle.get_result_async(), client.server_is_ready)
    except KeyboardInterrupt:
        _cancel(node, handle)
        raise
    print(f"Result:\n    {to_yaml(result.result)}")
    status = _STATUS[result.status] if 0 <= result.status < len(_STATUS) else "UNKNOWN"
    print(f"Goal finished with status: {status}", flush=True)
    return 0


def _cancel(node: Any, handle: Any) -> None:
    print("Canceling goal...", flush=True)
    response = graph.spin_until(node, handle.cancel_goal_async())
    print("Goal canceled." if response.goals_canceling else "Failed to cancel goal", flush=True)
