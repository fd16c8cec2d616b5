"""Output a list of available packages."""

from __future__ import annotations

import argparse

from ros2_mini import packages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def main(args: argparse.Namespace) -> int:
    for name in packages.package_names():
        print(name)
    return 0
