"""Output a list of package specific executables."""

from __future__ import annotations

import argparse

from ros2_mini import packages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package_name", nargs="?", help="the package name")
    parser.add_argument("--full-path", action="store_true", help="show the path of each executable")


def main(args: argparse.Namespace) -> int:
    names = [args.package_name] if args.package_name else packages.package_names()
    for name in names:
        for path in packages.executables(name):
            print(path if args.full_path else f"{name} {path.name}")
    return 0
