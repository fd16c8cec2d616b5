"""Interface types by name: their Python classes and their definition files."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from ros2_mini.errors import CommandError

KINDS = ("msg", "srv", "action")


def split_type(type_name: str, kind: str) -> tuple[str, str, str]:
    """``std_msgs/msg/String`` or ``std_msgs/String`` → ``('std_msgs', 'msg', 'String')``."""
    parts = type_name.split("/")
    if len(parts) == 2:
        parts.insert(1, kind)
    if len(parts) != 3 or not all(parts):
        raise CommandError(f"'{type_name}' is no type name, expected e.g. std_msgs/{kind}/Name")
    return parts[0], parts[1], parts[2]


def get_class(type_name: str, kind: str) -> Any:
    """Python class of a message, service or action type."""
    package, namespace, name = split_type(type_name, kind)
    what = {"msg": "message", "srv": "service", "action": "action"}[kind]
    if namespace != kind:
        raise CommandError(f"The passed {what} type is invalid: '{type_name}' is of kind {namespace}")
    try:
        return getattr(importlib.import_module(f"{package}.{namespace}"), name)
    except (ImportError, AttributeError) as error:
        raise CommandError(f"The passed {what} type is invalid: '{type_name}' ({error})") from error


def interface_files() -> dict[str, list[str]]:
    """Package → its interfaces as ``msg/Name``, sorted."""
    from ament_index_python import get_resource, get_resources

    found: dict[str, list[str]] = {}
    for package in sorted(get_resources("rosidl_interfaces")):
        content, _ = get_resource("rosidl_interfaces", package)
        names = {Path(line).with_suffix("").as_posix() for line in content.splitlines() if line}
        found[package] = sorted(name for name in names if name.split("/")[0] in KINDS)
    return found


def definition_path(package: str, namespace: str, name: str) -> Path:
    """Definition file (``.msg``, ``.srv``, ``.action``) of an interface."""
    from ros2_mini.packages import package_prefix

    try:
        prefix = package_prefix(package)
    except CommandError as error:
        raise CommandError(f"Unknown package '{package}'") from error
    path = prefix / "share" / package / namespace / f"{name}.{namespace}"
    if not path.is_file():
        raise CommandError(f"Could not find the interface '{path}'")
    return path
