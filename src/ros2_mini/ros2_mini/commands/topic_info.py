"""Print information about a topic."""

from __future__ import annotations

import argparse

from ros2_mini import graph
from ros2_mini.errors import CommandError
from ros2_mini.observers import observed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic_name", help="name of the ROS topic (e.g. '/chatter')")
    parser.add_argument("-v", "--verbose", action="store_true", help="nodes, hashes and QoS of all endpoints")


def main(args: argparse.Namespace) -> int:
    end = "\n\n" if args.verbose else "\n"
    with observed() as view:
        view.settle()
        topic = graph.expand(args.topic_name)
        types = dict(view.topics()).get(topic)
        if types is None:
            raise CommandError(f"Unknown topic '{topic}'")
        print(f"Type: {types[0] if len(types) == 1 else types}", end=end)
        for label, endpoints in (
            ("Publisher", view.publishers(topic)),
            ("Subscription", view.subscriptions(topic)),
        ):
            print(f"{label} count: {len(endpoints)}", end=end)
            for endpoint in endpoints if args.verbose else []:
                print(endpoint, end=end)
    return 0
