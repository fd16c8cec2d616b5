"""Run a package specific executable."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from ros2_mini import packages
from ros2_mini.errors import CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prefix", help="command before the executable, e.g. 'gdb -ex run --args'")
    parser.add_argument("package_name", help="name of the ROS package")
    parser.add_argument("executable_name", help="name of the executable")
    parser.add_argument("argv", nargs=argparse.REMAINDER, help="arguments of the executable")


def main(args: argparse.Namespace) -> int:
    found = [path for path in packages.executables(args.package_name) if path.name == args.executable_name]
    if not found:
        names = ", ".join(sorted(path.name for path in packages.executables(args.package_name))) or "none"
        raise CommandError(f"No executable found: package '{args.package_name}' has {names}")
    if len(found) > 1:
        paths = "".join(f"\n- {path}" for path in found)
        raise CommandError(f"Multiple executables found:{paths}")
    command = [*shlex.split(args.prefix or ""), str(found[0]), *args.argv]
    sys.stdout.flush()
    os.execvp(command[0], command)  # signals and the exit code are the executable's own then
