"""Output information about a node."""

from __future__ import annotations

import argparse
from typing import Any

from ros2_mini import graph
from ros2_mini.errors import CommandError
from ros2_mini.observers import observed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node_name", help="full name of the node (e.g. '/talker')")
    parser.add_argument(
        "--include-hidden", action="store_true", help="display hidden topics, services and actions"
    )


def main(args: argparse.Namespace) -> int:
    from rclpy.action import (
        get_action_client_names_and_types_by_node,
        get_action_server_names_and_types_by_node,
    )
    from rclpy.node import Node

    with observed() as view:
        view.settle()
        full_name = graph.expand(args.node_name)
        if full_name not in view.node_names(hidden=True):
            raise CommandError(f"Unable to find node '{full_name}'")
        namespace, _, name = full_name.rpartition("/")
        key = (name, namespace or "/")
        sections: list[tuple[str, list[tuple[str, list[str]]]]] = [
            ("Subscribers", view.of_node(Node.get_subscriber_names_and_types_by_node, *key)),
            ("Publishers", view.of_node(Node.get_publisher_names_and_types_by_node, *key)),
            ("Service Servers", view.of_node(Node.get_service_names_and_types_by_node, *key)),
            ("Service Clients", view.of_node(Node.get_client_names_and_types_by_node, *key)),
            ("Action Servers", view.of_node(get_action_server_names_and_types_by_node, *key)),
            ("Action Clients", view.of_node(get_action_client_names_and_types_by_node, *key)),
        ]
    print(full_name)
    for title, entries in sections:
        print(f"  {title}:")
        print(_text(entries, hidden=args.include_hidden))
    return 0


def _text(entries: list[tuple[str, Any]], *, hidden: bool) -> str:
    shown = [(name, types) for name, types in sorted(entries) if hidden or not graph.is_hidden(name)]
    return "\n".join(f"    {name}: {', '.join(types)}" for name, types in shown)
