"""Output a list of available topics."""

from __future__ import annotations

import argparse

from ros2_mini import graph
from ros2_mini.observers import observed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-t", "--show-types", action="store_true", help="additionally show the topic type")
    parser.add_argument("-c", "--count-topics", action="store_true", help="only display the number of topics")
    parser.add_argument("--include-hidden-topics", action="store_true", help="consider hidden topics as well")


def main(args: argparse.Namespace) -> int:
    with observed() as view:
        view.settle()
        topics = view.topics()
    topics = [
        (name, types) for name, types in topics if args.include_hidden_topics or not graph.is_hidden(name)
    ]
    if args.count_topics:
        print(len(topics))
        return 0
    for name, types in sorted(topics):
        print(f"{name} [{', '.join(types)}]" if args.show_types else name)
    return 0
