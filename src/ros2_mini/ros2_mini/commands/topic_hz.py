"""Print the average publishing rate to screen."""

from __future__ import annotations

import argparse
import collections
import itertools
import statistics
import time
from typing import Any

from ros2_mini import graph, topics
from ros2_mini.observers import observing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic_name", help="name of the ROS topic to listen to (e.g. '/chatter')")
    parser.add_argument("--window", "-w", type=int, default=10000, help="number of messages (default: 10000)")


def main(args: argparse.Namespace) -> int:
    import rclpy
    from rclpy.qos import qos_profile_sensor_data

    arrivals: collections.deque[float] = collections.deque(maxlen=args.window + 1)

    def on_message(_: Any) -> None:
        arrivals.append(time.monotonic())

    topic = graph.expand(args.topic_name)
    with graph.graph_node() as node:
        with observing(node) as view:
            cls = topics.wait_for_class(view, topic)
        node.create_subscription(cls, topic, on_message, qos_profile_sensor_data, raw=True)
        printed = time.monotonic()
        while rclpy.ok():
            rclpy.spin_once(node, timeout_sec=0.5)
            if len(arrivals) > 1 and arrivals[-1] >= printed + 1.0:
                printed = arrivals[-1]
                print(rate_text(list(arrivals)), flush=True)
    raise KeyboardInterrupt


def rate_text(arrivals: list[float]) -> str:
    """Rate and spread of the intervals between times of arrival in seconds."""
    intervals = [later - earlier for earlier, later in itertools.pairwise(arrivals)]
    mean = statistics.fmean(intervals)
    rate = 1.0 / mean if mean > 0.0 else 0.0
    return (
        f"average rate: {rate:.3f}\n\tmin: {min(intervals):.3f}s max: {max(intervals):.3f}s "
        f"std dev: {statistics.pstdev(intervals):.5f}s window: {len(intervals)}"
    )
