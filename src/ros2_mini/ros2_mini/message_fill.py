"""Messages from values in YAML."""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

import yaml

from ros2_mini.errors import CommandError

_SEQUENCE = re.compile(r"sequence<(?P<type>[^,>]+)(?:, \d+)?>|(?P<item>[^\[]+)\[\d+\]")
_INTEGER = re.compile(r"u?int(8|16|32|64)|char")


def parse_values(text: str, what: str = "value") -> dict[str, Any]:
    """YAML of a dictionary."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise CommandError(f"The passed {what} is no YAML: {error}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise CommandError(f"The passed {what} needs to be a dictionary in YAML format")
    return values


def fill(message: Any, values: dict[str, Any], path: str = "") -> None:
    """Set the fields that are given; errors name the field."""
    fields = message.get_fields_and_field_types()
    for name, value in values.items():
        field = f"{path}{name}"
        if name not in fields:
            raise CommandError(
                f"Failed to populate field: '{type(message).__name__}' has no field '{field}', "
                f"it has {', '.join(fields) or 'none'}"
            )
        try:
            setattr(message, name, _convert(value, fields[name], getattr(message, name), f"{field}."))
        except (TypeError, ValueError, AssertionError, OverflowError) as error:
            raise CommandError(
                f"Failed to populate field '{field}' of type {fields[name]}: {error}"
            ) from error


def _convert(value: Any, field_type: str, default: Any, path: str) -> Any:
    match = _SEQUENCE.fullmatch(field_type)
    if match is not None:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, got {value!r}")
        item_type = match["type"] or match["item"]
        return [_convert(item, item_type, _new(item_type), path) for item in value]
    if hasattr(default, "get_fields_and_field_types"):
        if not isinstance(value, dict):
            raise TypeError(f"expected a dictionary, got {value!r}")
        fill(default, value, path)
        return default
    return _scalar(value, field_type)


def _scalar(value: Any, field_type: str) -> Any:
    if field_type.startswith(("string", "wstring")):
        return str(value)
    if field_type == "boolean":
        if not isinstance(value, bool):
            raise TypeError(f"expected true or false, got {value!r}")
        return value
    if field_type in ("float", "double", "long double"):
        return float(value)
    if _INTEGER.fullmatch(field_type):
        if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
            raise TypeError(f"expected a whole number, got {value!r}")
        return int(value)
    if field_type == "octet":
        return bytes([value]) if isinstance(value, int) else str(value).encode("latin-1")
    return value


def _new(field_type: str) -> Any:
    """A message for an item of a sequence of messages, None for other items."""
    if "/" not in field_type:
        return None
    package, name = field_type.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)()
