"""Output a list of available nodes."""

from __future__ import annotations

import argparse

from ros2_mini.observers import observed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="display all nodes even hidden ones")
    parser.add_argument("-c", "--count-nodes", action="store_true", help="only display the number of nodes")


def main(args: argparse.Namespace) -> int:
    with observed() as view:
        view.settle()
        names = view.node_names(hidden=args.all)
    if args.count_nodes:
        print(len(names))
        return 0
    for name in names:
        print(name)
    return 0
