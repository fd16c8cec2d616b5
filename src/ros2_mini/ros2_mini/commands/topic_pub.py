"""Publish a message to a topic."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ros2_mini import graph, interfaces, qos
from ros2_mini.errors import CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic_name", help="name of the ROS topic to publish to (e.g. '/chatter')")
    parser.add_argument("message_type", help="type of the ROS message (e.g. 'std_msgs/msg/String')")
    parser.add_argument(
        "values", nargs="?", default="{}", help='values in YAML format (e.g. "data: Hello World")'
    )
    parser.add_argument("-r", "--rate", metavar="N", type=float, default=1.0, help="rate in Hz (default: 1)")
    times = parser.add_mutually_exclusive_group()
    times.add_argument("-1", "--once", action="store_true", help="publish one message and exit")
    times.add_argument(
        "-t", "--times", type=int, default=0, help="publish this number of times and then exit"
    )
    parser.add_argument(
        "-w",
        "--wait-matching-subscriptions",
        type=int,
        help="wait until this many subscriptions have matched (default: 1 with --once or --times, else 0)",
    )
    parser.add_argument(
        "--keep-alive", metavar="N", type=float, default=0.1, help="seconds to live on afterwards"
    )
    parser.add_argument("-n", "--node-name", default="", help="name of the created publishing node")
    qos.add_arguments(parser, "default")


def main(args: argparse.Namespace) -> int:
    from ros2_mini.message_fill import fill, parse_values

    if args.rate <= 0:
        raise CommandError("rate must be greater than zero")
    message = interfaces.get_class(args.message_type, "msg")()
    fill(message, parse_values(args.values))
    times = 1 if args.once else args.times
    wanted = args.wait_matching_subscriptions
    if wanted is None:
        wanted = 1 if times else 0
    with graph.graph_node(name=args.node_name) as node:
        publisher = node.create_publisher(type(message), args.topic_name, qos.from_arguments(args))
        _wait_for_subscriptions(node, publisher, wanted)
        print("publisher: beginning loop", flush=True)
        count = 0
        while node.context.ok():
            count += 1
            print(f"publishing #{count}: {message!r}\n", flush=True)
            publisher.publish(message)
            if count == times:
                time.sleep(args.keep_alive)
                return 0
            time.sleep(1.0 / args.rate)
    raise KeyboardInterrupt


def _wait_for_subscriptions(node: Any, publisher: Any, wanted: int) -> None:
    said = 0.0
    while publisher.get_subscription_count() < wanted:
        if not node.context.ok():
            raise KeyboardInterrupt
        if time.monotonic() - said >= 1.0:
            said = time.monotonic()
            print(f"Waiting for at least {wanted} matching subscription(s)...", flush=True)
        time.sleep(0.05)
