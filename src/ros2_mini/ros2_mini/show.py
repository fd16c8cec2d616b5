"""Definitions of interfaces with the fields of nested types below them."""

from __future__ import annotations

import re

from ros2_mini.errors import CommandError
from ros2_mini.interfaces import definition_path

_FIELD = re.compile(r"(?P<type>[A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+(?P<name>[A-Za-z]\w*)")
_PRIMITIVES = {
    "bool",
    "byte",
    "char",
    "float32",
    "float64",
    "string",
    "wstring",
    *(f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)),
}


def definition_lines(
    package: str,
    namespace: str,
    name: str,
    *,
    comments: bool = True,
    nested_comments: bool = False,
    depth: int = 0,
) -> list[str]:
    """Lines of a definition; those of nested types are indented by tabs."""
    lines: list[str] = []
    for line in definition_path(package, namespace, name).read_text(encoding="utf-8").splitlines():
        shown = line.rstrip() if comments else _without_comment(line)
        if shown or (comments and not depth):
            lines.append("\t" * depth + shown)
        nested = nested_type(line, package)
        if nested is not None:
            lines += definition_lines(
                nested[0],
                "msg",
                nested[1],
                comments=comments and nested_comments,
                nested_comments=nested_comments,
                depth=depth + 1,
            )
    return lines


def nested_type(line: str, package: str) -> tuple[str, str] | None:
    """Package and name of the message type of a field, None for other lines."""
    match = _FIELD.match(_without_comment(line))
    if match is None or match["type"] in _PRIMITIVES:
        return None
    parts = match["type"].split("/")
    if len(parts) > 3:
        raise CommandError(f"cannot read the field '{line.strip()}' of package '{package}'")
    if len(parts) == 1 and parts[0] == "Header":
        return "std_msgs", "Header"
    return (package, parts[0]) if len(parts) == 1 else (parts[0], parts[-1])


def _without_comment(line: str) -> str:
    return line.split("#", 1)[0].rstrip()
