"""List all interface types available."""

from __future__ import annotations

import argparse

from ros2_mini import interfaces


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--only-msgs", action="store_true", help="print out only the message types")
    parser.add_argument("-s", "--only-srvs", action="store_true", help="print out only the service types")
    parser.add_argument("-a", "--only-actions", action="store_true", help="print out only the action types")


def main(args: argparse.Namespace) -> int:
    chosen = {"msg": args.only_msgs, "srv": args.only_srvs, "action": args.only_actions}
    files = interfaces.interface_files()
    for kind, title in (("msg", "Messages"), ("srv", "Services"), ("action", "Actions")):
        if any(chosen.values()) and not chosen[kind]:
            continue
        print(f"{title}:")
        for package, names in files.items():
            for name in names:
                if name.startswith(f"{kind}/"):
                    print(f"    {package}/{name}")
    return 0
