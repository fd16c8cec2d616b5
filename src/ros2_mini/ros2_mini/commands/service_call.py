"""Call a service."""

from __future__ import annotations

import argparse
import time

from ros2_mini import graph, interfaces
from ros2_mini.errors import CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("service_name", help="name of the ROS service to call to (e.g. '/add_two_ints')")
    parser.add_argument("service_type", help="type of the ROS service (e.g. 'std_srvs/srv/Empty')")
    parser.add_argument("values", nargs="?", default="{}", help="values of the request in YAML format")
    parser.add_argument(
        "-r", "--rate", metavar="N", type=float, help="repeat the call at a specific rate in Hz"
    )


def main(args: argparse.Namespace) -> int:
    from ros2_mini.message_fill import fill, parse_values

    if args.rate is not None and args.rate <= 0:
        raise CommandError("rate must be greater than zero")
    cls = interfaces.get_class(args.service_type, "srv")
    request = cls.Request()
    fill(request, parse_values(args.values))
    with graph.graph_node() as node:
        client = node.create_client(cls, args.service_name)
        if not client.service_is_ready():
            print("waiting for service to become available...", flush=True)
            while not client.wait_for_service(timeout_sec=0.5):
                if not node.context.ok():
                    raise KeyboardInterrupt
        while True:
            print(f"requester: making request: {request!r}\n", flush=True)
            response = graph.spin_until(node, client.call_async(request), client.service_is_ready)
            print(f"response:\n{response!r}\n", flush=True)
            if args.rate is None:
                return 0
            time.sleep(1.0 / args.rate)
