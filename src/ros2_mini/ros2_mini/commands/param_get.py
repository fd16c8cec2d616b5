"""Get parameter."""

from __future__ import annotations

import argparse

from ros2_mini import graph
from ros2_mini.errors import CommandError

_LABELS = (
    "Parameter not set.",
    "Boolean value is:",
    "Integer value is:",
    "Double value is:",
    "String value is:",
    "Byte values are:",
    "Boolean values are:",
    "Integer values are:",
    "Double values are:",
    "String values are:",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("node_name", help="name of the ROS node")
    parser.add_argument("parameter_name", help="name of the parameter")
    parser.add_argument("--hide-type", action="store_true", help="hide the type information")


def main(args: argparse.Namespace) -> int:
    from rcl_interfaces.srv import GetParameters
    from rclpy.parameter import parameter_value_to_python

    with graph.graph_node() as node:
        name = graph.require_node(node, args.node_name)
        request = GetParameters.Request(names=[args.parameter_name])
        response = graph.call(node, GetParameters, f"{name}/get_parameters", request)
    if not response.values:
        raise CommandError("Parameter not set")
    parameter = response.values[0]
    value = parameter_value_to_python(parameter)
    if value is None:
        print(_LABELS[0])
    elif args.hide_type:
        print(value)
    else:
        print(_LABELS[parameter.type], value)
    return 0
