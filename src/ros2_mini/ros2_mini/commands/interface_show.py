"""Output the interface definition."""

from __future__ import annotations

import argparse

from ros2_mini import interfaces
from ros2_mini.show import definition_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("type", help="interface type (e.g. 'std_msgs/msg/String')")
    comments = parser.add_mutually_exclusive_group()
    comments.add_argument("--all-comments", action="store_true", help="show comments of nested types too")
    comments.add_argument("--no-comments", action="store_true", help="show no comments or whitespace")


def main(args: argparse.Namespace) -> int:
    lines = definition_lines(
        *interfaces.split_type(args.type, "msg"),
        comments=not args.no_comments,
        nested_comments=args.all_comments,
    )
    print("\n".join(lines).rstrip())
    return 0
