"""Output a list of action names."""

from __future__ import annotations

import argparse

from ros2_mini.observers import observed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-t", "--show-types", action="store_true", help="additionally show the action type")
    parser.add_argument(
        "-c", "--count-actions", action="store_true", help="only display the number of actions"
    )


def main(args: argparse.Namespace) -> int:
    with observed() as view:
        view.settle()
        actions = view.actions()
    if args.count_actions:
        print(len(actions))
        return 0
    for name, types in sorted(actions):
        print(f"{name} [{', '.join(types)}]" if args.show_types else name)
    return 0
