"""Trigger lifecycle state transition."""

from __future__ import annotations

import argparse
import sys

from ros2_mini import graph
from ros2_mini.commands.lifecycle_nodes import require_lifecycle_node
from ros2_mini.errors import CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node_name", help="name of the ROS node")
    parser.add_argument("transition", help="label or id of the transition")


def main(args: argparse.Namespace) -> int:
    from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions

    with graph.graph_node() as node:
        name = require_lifecycle_node(node, args.node_name)
        request = GetAvailableTransitions.Request()
        response = graph.call(node, GetAvailableTransitions, f"{name}/get_available_transitions", request)
        transitions = [entry.transition for entry in response.available_transitions]
        wanted = [t for t in transitions if args.transition in (t.label, str(t.id))]
        if not wanted:
            options = "".join(f"\n- {t.label} [{t.id}]" for t in transitions)
            raise CommandError(f"Unknown transition requested, available ones are:{options}")
        change = ChangeState.Request(transition=wanted[0])
        success = graph.call(node, ChangeState, f"{name}/change_state", change).success
    if success:
        print("Transitioning successful")
    else:
        print("Transitioning failed", file=sys.stderr)
    return 0  # also after a refusal, as in Jazzy
