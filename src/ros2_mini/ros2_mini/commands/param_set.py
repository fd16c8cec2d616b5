"""Set parameter."""

from __future__ import annotations

import argparse
import sys

from ros2_mini import graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node_name", help="name of the ROS node")
    parser.add_argument("parameter_name", help="name of the parameter")
    parser.add_argument("value", help="value of the parameter, in YAML")


def main(args: argparse.Namespace) -> int:
    from rcl_interfaces.msg import Parameter
    from rcl_interfaces.srv import SetParameters
    from rclpy.parameter import get_parameter_value

    parameter = Parameter(name=args.parameter_name, value=get_parameter_value(args.value))
    with graph.graph_node() as node:
        name = graph.require_node(node, args.node_name)
        request = SetParameters.Request(parameters=[parameter])
        result = graph.call(node, SetParameters, f"{name}/set_parameters", request).results[0]
    reason = f": {result.reason}" if result.reason else ""
    if result.successful:
        print(f"Set parameter successful{reason}")
    else:
        print(f"Setting parameter failed{reason}", file=sys.stderr)
    return 0  # also after a refusal, as in Jazzy
