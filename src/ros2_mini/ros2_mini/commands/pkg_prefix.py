"""Output the prefix path of a package."""

from __future__ import annotations

import argparse

from ros2_mini import packages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--share", action="store_true", help="show the share directory instead")
    parser.add_argument("package_name", help="the package name")


def main(args: argparse.Namespace) -> int:
    prefix = packages.package_prefix(args.package_name)
    print(prefix / "share" / args.package_name if args.share else prefix)
    return 0
