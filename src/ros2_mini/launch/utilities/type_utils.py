"""Values that may be given as such or as substitutions, and are wanted in a certain type."""

from __future__ import annotations

import collections.abc
import typing
from typing import TYPE_CHECKING, Any

from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

_SCALARS = (bool, int, float, str)


def split_type(data_type: Any) -> tuple[type, bool]:
    """``List[int]`` → ``(int, True)``, ``int`` → ``(int, False)``; other types raise ValueError."""
    is_list = typing.get_origin(data_type) is list
    scalar = typing.get_args(data_type)[0] if is_list else data_type
    if scalar not in _SCALARS:
        raise ValueError(f"Unrecognized data type: {data_type}")
    return scalar, is_list


def is_substitution(value: Any) -> bool:
    """A substitution, or a list of text and substitutions with at least one of the latter."""
    if isinstance(value, Substitution):
        return True
    if isinstance(value, str) or not isinstance(value, collections.abc.Sequence):
        return False
    return all(isinstance(item, (Substitution, str)) for item in value) and any(
        isinstance(item, Substitution) for item in value
    )


def normalize_typed_substitution(value: Any, data_type: Any) -> Any:
    """Check a value against its type now, or keep substitutions for later."""
    from . import normalize_to_list_of_substitutions

    if isinstance(value, _SCALARS):
        if data_type is not None:
            scalar, is_list = split_type(data_type)
            if is_list or not isinstance(value, scalar):
                raise TypeError(f"value='{value}' is not an instance of {data_type}")
        return value
    if is_substitution(value):
        return normalize_to_list_of_substitutions(value)
    if not isinstance(value, collections.abc.Iterable):
        raise TypeError(f"expected a scalar, a substitution or a list of them, got {value!r}")
    return [normalize_to_list_of_substitutions(x) if is_substitution(x) else x for x in value]


def perform_typed_substitution(context: LaunchContext, value: Any, data_type: Any) -> Any:
    """Evaluate what ``normalize_typed_substitution`` returned to the wanted type."""
    from . import perform_substitutions

    if isinstance(value, _SCALARS) or not isinstance(value, list):
        return value
    if value and all(isinstance(item, Substitution) for item in value):
        return coerce_to_type(perform_substitutions(context, value), data_type)
    item_type = None if data_type is None else split_type(data_type)[0]
    items = [
        coerce_to_type(perform_substitutions(context, item), item_type) if isinstance(item, list) else item
        for item in value
    ]
    if len({type(item) for item in items}) > 1 or (
        item_type and not all(isinstance(x, item_type) for x in items)
    ):
        raise ValueError(f"expected a list of one type, got {items}")
    return items


def coerce_to_type(text: str, data_type: Any) -> Any:
    """Text as a value of ``data_type``; by YAML's rules if that is None."""
    if data_type is None:
        return _by_yaml(text, _SCALARS, may_be_list=True)
    scalar, is_list = split_type(data_type)
    if is_list:
        value = _by_yaml(text, (scalar,), may_be_list=True)
        if not isinstance(value, list):
            raise ValueError(f"Cannot convert value '{text}' to a list of '{scalar.__name__}'")
        return value
    if scalar is str:
        return text
    if scalar is bool:
        return _by_yaml(text, (bool,), may_be_list=False)
    return scalar(text)


def _by_yaml(text: str, scalars: tuple[type, ...], *, may_be_list: bool) -> Any:
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"Failed to convert '{text}' using yaml rules: {error}") from error
    if may_be_list and isinstance(value, list):
        uniform = len({type(item) for item in value}) <= 1
        if uniform and all(isinstance(item, scalars) for item in value):
            return value
    elif isinstance(value, scalars):
        return value
    expected = "/".join(t.__name__ for t in scalars)
    raise ValueError(f"Cannot convert value '{text}' to {expected}: it reads as {type(value).__name__}")
