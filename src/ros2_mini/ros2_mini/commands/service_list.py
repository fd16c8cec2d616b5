"""Output a list of available services."""

from __future__ import annotations

import argparse

from ros2_mini import graph
from ros2_mini.observers import observed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-t", "--show-types", action="store_true", help="additionally show the service type")
    parser.add_argument(
        "-c", "--count-services", action="store_true", help="only display the number of services"
    )
    parser.add_argument(
        "--include-hidden-services", action="store_true", help="consider hidden services as well"
    )


def main(args: argparse.Namespace) -> int:
    with observed() as view:
        view.settle()
        services = view.services()
    services = [entry for entry in services if args.include_hidden_services or not graph.is_hidden(entry[0])]
    if args.count_services:
        print(len(services))
        return 0
    for name, types in sorted(services):
        print(f"{name} [{', '.join(types)}]" if args.show_types else name)
    return 0
