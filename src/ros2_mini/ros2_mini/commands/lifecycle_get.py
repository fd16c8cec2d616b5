"""Get lifecycle state for one or more nodes."""

from __future__ import annotations

import argparse

from ros2_mini import graph
from ros2_mini.commands.lifecycle_nodes import lifecycle_nodes, require_lifecycle_node
from ros2_mini.observers import observing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node_name", nargs="?", help="name of the ROS node")
    parser.add_argument("--include-hidden-nodes", action="store_true", help="consider hidden nodes as well")


def main(args: argparse.Namespace) -> int:
    from lifecycle_msgs.srv import GetState

    with graph.graph_node() as node:
        if args.node_name:
            names = [require_lifecycle_node(node, args.node_name)]
        else:
            with observing(node) as view:
                view.settle()
                names = lifecycle_nodes(view, hidden=args.include_hidden_nodes)
        for name in names:
            state = graph.call(node, GetState, f"{name}/get_state", GetState.Request()).current_state
            prefix = "" if args.node_name else f"{name}: "
            print(f"{prefix}{state.label} [{state.id}]")
    return 0
