"""The ``ros2`` command: which verbs there are; each is imported only when it is called."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from typing import NoReturn

from ros2_mini.errors import CommandError
from ros2_mini.guard import real_package_prefix

#: command → verb → module in ros2_mini.commands; commands without verbs have the verb ''
VERBS: dict[str, dict[str, str]] = {
    "action": {"list": "action_list", "send_goal": "action_send_goal"},
    "interface": {"list": "interface_list", "show": "interface_show"},
    "launch": {"": "launch"},
    "lifecycle": {"get": "lifecycle_get", "nodes": "lifecycle_nodes", "set": "lifecycle_set"},
    "node": {"info": "node_info", "list": "node_list"},
    "param": {"get": "param_get", "list": "param_list", "set": "param_set"},
    "pkg": {"executables": "pkg_executables", "list": "pkg_list", "prefix": "pkg_prefix"},
    "run": {"": "run"},
    "service": {"call": "service_call", "list": "service_list"},
    "topic": {
        "echo": "topic_echo",
        "hz": "topic_hz",
        "info": "topic_info",
        "list": "topic_list",
        "pub": "topic_pub",
    },
}


def main(argv: list[str]) -> int:
    """Run one command; the return value is the exit code."""
    try:
        prefix = real_package_prefix("ros2cli")
        if prefix is not None:
            raise CommandError(
                f"a full ROS 2 is installed in {prefix}: use its own ros2 command, not ros2_mini."
            )
        return _dispatch(argv)
    except CommandError as error:
        print(error, file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return signal.SIGINT
    except BrokenPipeError:  # e.g. `| head`
        sys.stderr.close()
        return 0


def _dispatch(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(_usage())
        return 0
    command, rest = argv[0], argv[1:]
    if command not in VERBS:
        raise CommandError(f"'ros2 {command}' needs a full ROS 2; this one has: {', '.join(VERBS)}.", 2)
    verbs = VERBS[command]
    if "" in verbs:
        return _run(f"ros2 {command}", verbs[""], rest)
    if not rest or rest[0] in ("-h", "--help"):
        print(f"usage: ros2 {command} {{{','.join(verbs)}}} ...")
        return 0
    verb, rest = rest[0], rest[1:]
    if verb not in verbs:
        raise CommandError(
            f"'ros2 {command} {verb}' needs a full ROS 2; this one has: {', '.join(verbs)}.", 2
        )
    return _run(f"ros2 {command} {verb}", verbs[verb], rest)


def _run(name: str, module_name: str, argv: list[str]) -> int:
    module = importlib.import_module(f"ros2_mini.commands.{module_name}")
    parser = _Parser(prog=name, description=(module.__doc__ or "").strip().split("\n")[0])
    module.add_arguments(parser)
    return module.main(parser.parse_args(argv)) or 0


class _Parser(argparse.ArgumentParser):
    """Says of an option that it does not know that the full ROS 2 may."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments"):
            message += "; other options need a full ROS 2"
        super().error(message)


def _usage() -> str:
    lines = ["usage: ros2 <command> ...", "", "commands:"]
    for command, verbs in VERBS.items():
        lines.append(f"  {command:<10} {' | '.join(verb for verb in verbs if verb)}".rstrip())
    return "\n".join([*lines, "", "Everything else needs a full ROS 2."])
