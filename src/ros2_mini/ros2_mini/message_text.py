"""Messages as YAML and CSV, in the shape of rosidl_runtime_py."""

from __future__ import annotations

import array
import re
from typing import Any

import yaml

_WIDTH = 2**31 - 1  # never wrap
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_SEQUENCE = re.compile(r"sequence<(?P<type>[^,>]+)(?:, (?P<bound>\d+))?>|(?P<item>[^\[]+)\[(?P<size>\d+)\]")


def is_message(value: Any) -> bool:
    return hasattr(value, "get_fields_and_field_types")


def to_yaml(
    message: Any,
    *,
    truncate_length: int | None = None,
    no_arr: bool = False,
    no_str: bool = False,
    flow_style: bool = False,
) -> str:
    """YAML of a message, fields in the order of its definition."""
    plain = to_plain(message, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return yaml.dump(
        plain,
        Dumper=_DUMPER,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=flow_style,
    )


def to_plain(
    message: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> dict[str, Any]:
    """Nested dictionaries and lists of plain Python values."""
    options = {"truncate_length": truncate_length, "no_arr": no_arr, "no_str": no_str}
    return {
        name: _plain(getattr(message, name), field_type, options)
        for name, field_type in message.get_fields_and_field_types().items()
    }


def _plain(value: Any, field_type: str | None, options: dict[str, Any]) -> Any:
    limit = options["truncate_length"]
    if is_message(value):
        return to_plain(value, **options)
    if isinstance(value, bytes):
        text = "".join(chr(byte) for byte in value)
        return text if limit is None or len(text) <= limit else f"{text[:limit]}..."
    if isinstance(value, str):
        if options["no_str"]:
            return f"<string length: <{len(value)}>>"
        return value if limit is None or len(value) <= limit else f"{value[:limit]}..."
    if _is_array(value):
        if options["no_arr"] and field_type is not None:
            return _abbreviation(field_type, len(value))
        cut = limit is not None and len(value) > limit
        items = [_plain(item, None, options) for item in (value[:limit] if cut else value)]
        return [*items, "..."] if cut else items
    return value.item() if hasattr(value, "item") else value


def _is_array(value: Any) -> bool:
    return isinstance(value, (list, tuple, array.array)) or (
        hasattr(value, "tolist") and hasattr(value, "shape")
    )


def _abbreviation(field_type: str, length: int) -> str:
    match = _SEQUENCE.fullmatch(field_type)
    if match is None:
        return "unknown"
    item = (match["type"] or match["item"]).replace("/", "/msg/")
    if match["size"] is not None:
        return f"<array type: {item}[{match['size']}]>"
    bound = f"[{match['bound']}]" if match["bound"] else ""
    return f"<sequence type: {item}{bound}, length: {length}>"


def to_csv(
    message: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> str:
    """All values, separated by commas."""
    plain = to_plain(message, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return ",".join(str(value) for value in _leaves(plain))


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)] or [""]  # an empty array is a column too
    return [value]
