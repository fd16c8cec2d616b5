"""Output a list of available parameters."""

from __future__ import annotations

import argparse
import re
import sys

from ros2_mini import graph
from ros2_mini.errors import CommandError
from ros2_mini.observers import observing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node_name", nargs="?", help="name of the ROS node")
    parser.add_argument("--include-hidden-nodes", action="store_true", help="consider hidden nodes as well")
    parser.add_argument("--filter", help="only parameters that match the regular expression")


def main(args: argparse.Namespace) -> int:
    from rcl_interfaces.srv import ListParameters

    with graph.graph_node() as node:
        if args.node_name:
            names = [graph.require_node(node, args.node_name)]
        else:
            with observing(node) as view:
                view.settle()
                names = view.node_names(hidden=args.include_hidden_nodes)
        for name in names:
            try:
                response = graph.call(
                    node, ListParameters, f"{name}/list_parameters", ListParameters.Request()
                )
            except CommandError as error:
                if args.node_name:
                    raise
                print(f"Exception while calling service of node '{name}': {error}", file=sys.stderr)
                continue
            found = sorted(response.result.names)
            if args.filter is not None:
                found = [parameter for parameter in found if re.match(args.filter, parameter)]
            if not args.node_name and found:
                print(f"{name}:")
            for parameter in found:
                print(f"  {parameter}")
    return 0
