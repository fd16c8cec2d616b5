"""Output a list of nodes with lifecycle."""

from __future__ import annotations

import argparse
from typing import Any

from ros2_mini import graph
from ros2_mini.errors import CommandError
from ros2_mini.observers import Observers, observed, observing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="display all nodes even hidden ones")
    parser.add_argument("-c", "--count-nodes", action="store_true", help="only display the number of nodes")


def main(args: argparse.Namespace) -> int:
    with observed() as view:
        view.settle()
        names = lifecycle_nodes(view, hidden=args.all)
    if args.count_nodes:
        print(len(names))
        return 0
    for name in names:
        print(name)
    return 0


def lifecycle_nodes(view: Observers, *, hidden: bool = False) -> list[str]:
    """Nodes that have the lifecycle services."""
    services = dict(view.services())
    return [
        name
        for name in view.node_names(hidden=hidden)
        if "lifecycle_msgs/srv/GetState" in services.get(f"{name}/get_state", [])
    ]


def require_lifecycle_node(node: Any, name: str) -> str:
    """Full name of a node that must have a lifecycle."""
    full_name = graph.expand(name)
    with observing(node) as view:
        if not view.settle(lambda: full_name in lifecycle_nodes(view, hidden=True)):
            raise CommandError("Node not found")
    return full_name
