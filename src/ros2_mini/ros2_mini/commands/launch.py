"""Run a launch file."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ros2_mini import packages
from ros2_mini.errors import CommandError

if TYPE_CHECKING:
    from launch import LaunchDescription
    from launch.launch_description_entity import LaunchDescriptionEntity

#: launch configurations that the launch system itself reads
_KNOWN_CONFIGURATIONS = (
    "emulate_tty",
    "launch-prefix",
    "launch-prefix-filter",
    "sigkill_timeout",
    "sigterm_timeout",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--noninteractive",
        action="store_true",
        default=not sys.stdin.isatty(),
        help="run the launch system without a terminal that sends Ctrl-C to the processes",
    )
    parser.add_argument("-d", "--debug", action="store_true", help="more output, with tracebacks of errors")
    parser.add_argument(
        "-s",
        "--show-args",
        "--show-arguments",
        action="store_true",
        help="show arguments that may be given to the launch file",
    )
    parser.add_argument(
        "-a", "--show-all-subprocesses-output", action="store_true", help="show the output of all processes"
    )
    parser.add_argument("package_name", help="name of the ROS package, or path of the launch file")
    parser.add_argument("launch_file_name", nargs="?", help="name of the launch file")
    parser.add_argument(
        "launch_arguments", nargs="*", help="'<name>:=<value>' (for duplicates, last one wins)"
    )


def main(args: argparse.Namespace) -> int:
    path, argv = _launch_file(args)
    if args.show_all_subprocesses_output:
        os.environ["OVERRIDE_LAUNCH_PROCESS_OUTPUT"] = "both"
    description = _load(path)
    if args.show_args:
        print_arguments(description)
        return 0
    arguments = parse_launch_arguments(argv)
    _check_names(description, [name for name, _ in arguments], path)
    return _launch(description, path, arguments, args, argv)


def _launch_file(args: argparse.Namespace) -> tuple[Path, list[str]]:
    """Path of the launch file and the arguments after it, for ``<package> <file>`` and for ``<path>``."""
    given = Path(args.package_name)
    named = args.launch_file_name is not None and ":=" not in args.launch_file_name
    if named and not given.is_file():
        return packages.find_in_share(args.package_name, args.launch_file_name), args.launch_arguments
    rest = [args.launch_file_name] if args.launch_file_name is not None else []
    if given.is_file():
        return given, [*rest, *args.launch_arguments]
    raise CommandError(
        f"No launch file supplied: '{given}' is no file; usage: ros2 launch <package> <launch file>"
    )


def _load(path: Path) -> LaunchDescription:
    from launch import InvalidLaunchFileError
    from launch.launch_description_sources import get_launch_description_from_any_launch_file

    try:
        return get_launch_description_from_any_launch_file(str(path))
    except InvalidLaunchFileError as error:
        raise CommandError(f"[ERROR] [launch]: {error}") from error


def print_arguments(description: LaunchDescription) -> None:
    """Print the arguments with description and default."""
    print("Arguments (pass arguments as '<name>:=<value>'):")
    arguments = description.get_launch_arguments()
    for argument in arguments:
        mark = "*" if argument._conditionally_included else ""
        print(f"\n    '{argument.name}':{mark}\n        {argument.description}")
        if argument.default_value is not None:
            print(f"        (default: {' + '.join(token.describe() for token in argument.default_value)})")
    if not arguments:
        print("\n  No arguments.")
    elif any(argument._conditionally_included for argument in arguments):
        print("\n* argument(s) which are only used if specific conditions occur")


def parse_launch_arguments(arguments: list[str]) -> list[tuple[str, str]]:
    """``name:=value`` → ``(name, value)``; an empty value is refused, as by real launch."""
    parsed: dict[str, str] = {}
    for argument in arguments:
        name, separator, value = argument.partition(":=")
        if not separator or not name or not value:
            raise CommandError(f"malformed launch argument '{argument}', expected format '<name>:=<value>'")
        parsed[name] = value
    return list(parsed.items())


def _check_names(description: LaunchDescription, names: list[str], path: Path) -> None:
    """Refuse arguments that nothing declares: with real launch a misspelt one is silently without effect."""
    declared = {argument.name for argument in description.get_launch_arguments()}
    for name in names:
        if name in declared or name in _KNOWN_CONFIGURATIONS:
            continue
        close = difflib.get_close_matches(name, declared, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "see --show-args."
        message = f"launch argument '{name}' is not declared by {path.name}: {hint}"
        if not _is_transparent(description.entities):
            print(f"[WARNING] [launch]: {message}", file=sys.stderr)
            continue
        raise CommandError(message)


def _is_transparent(entities: list[LaunchDescriptionEntity]) -> bool:
    """Whether everything that could declare an argument is visible before the launch runs."""
    from launch.actions import IncludeLaunchDescription, OpaqueFunction

    for entity in entities:
        subs = list(entity.describe_sub_entities())
        subs += [sub for _, more in entity.describe_conditional_sub_entities() for sub in more]
        if isinstance(entity, OpaqueFunction) or (isinstance(entity, IncludeLaunchDescription) and not subs):
            return False
        if not _is_transparent(subs):
            return False
    return True


def _launch(
    description: LaunchDescription,
    path: Path,
    arguments: list[tuple[str, str]],
    args: argparse.Namespace,
    argv: list[str],
) -> int:
    from launch import LaunchDescription, LaunchDescriptionSource, LaunchService
    from launch.actions import IncludeLaunchDescription

    service = LaunchService(argv=argv, noninteractive=args.noninteractive, debug=args.debug)
    source = LaunchDescriptionSource(description, str(path), "interpreted launch file")
    include = IncludeLaunchDescription(source, launch_arguments=arguments)
    service.include_launch_description(LaunchDescription([include]))
    return service.run()
