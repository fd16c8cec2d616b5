"""ROS parameters from one frozen dataclass per node: declared with description and range, validated, typed.

::

    @dataclass(frozen=True)
    class Settings:
        mode: str = parameter("lockstep", "How to run.", choices=("lockstep", "realtime"), read_only=True)
        watchdog_time: float = parameter(0.5, "Seconds without a command until zero.", low=0.01, high=60.0)
        hidden_context: tuple[float, ...] = parameter((), "Empty: sampled from the seed.")

        def __post_init__(self) -> None: ...   # checks across fields: raise ValueError with a remedy

    self._settings = NodeParameters(self, Settings, on_change=self._settings_changed)
    self._settings.value.watchdog_time

(Not ``self._parameters``: rclpy's Node has a private attribute of that name.)

Field types: bool, int, float, str and ``tuple[T, ...]`` of these. A value from the command line or a YAML
file that is an integer where a float is meant, or an empty list, is taken as meant. A later ``ros2 param
set`` is checked as a whole and refused with a reason, or replaces ``value`` and calls ``on_change(new,
old)``; read-only parameters are refused by rclpy itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

T = TypeVar("T")

_INT64_LOW, _INT64_HIGH = -(2**63), 2**63 - 1
_SCALARS = {
    bool: Parameter.Type.BOOL,
    int: Parameter.Type.INTEGER,
    float: Parameter.Type.DOUBLE,
    str: Parameter.Type.STRING,
}
_ARRAYS = {
    bool: Parameter.Type.BOOL_ARRAY,
    int: Parameter.Type.INTEGER_ARRAY,
    float: Parameter.Type.DOUBLE_ARRAY,
    str: Parameter.Type.STRING_ARRAY,
}


class ParameterError(ValueError):
    """A node cannot start with these parameters; the text names the parameter and the remedy."""


def parameter(
    default: Any,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    read_only: bool = False,
) -> Any:
    """A dataclass field that is a ROS parameter. ``low``/``high`` are inclusive, for arrays of every
    entry."""
    metadata = {
        "description": description,
        "low": low,
        "high": high,
        "choices": tuple(choices),
        "read_only": read_only,
    }
    return dataclasses.field(default=default, metadata=metadata)


def check(settings: Any) -> None:
    """Check every field of a settings instance against its metadata; raises ParameterError."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        entries = value if isinstance(value, tuple) else (value,)
        for entry in entries:
            _check_entry(field, entry)


def _check_entry(field: dataclasses.Field[Any], entry: Any) -> None:
    low, high, choices = (field.metadata.get(key) for key in ("low", "high", "choices"))
    if choices and entry not in choices:
        raise ParameterError(f"parameter {field.name!r} is {entry!r}; choose one of {', '.join(choices)}")
    if isinstance(entry, float) and not math.isfinite(entry):
        raise ParameterError(f"parameter {field.name!r} must be finite, got {entry}")
    if (low is not None and entry < low) or (high is not None and entry > high):
        raise ParameterError(f"parameter {field.name!r} is {entry}, outside {_range_text(low, high)}")


def _range_text(low: float | None, high: float | None) -> str:
    return f"[{'-inf' if low is None else low}, {'inf' if high is None else high}]"


class NodeParameters(Generic[T]):
    """The declared parameters of a node; ``value`` is always a valid instance of the settings dataclass."""

    def __init__(
        self,
        node: Node,
        settings: type[T],
        *,
        defaults: Mapping[str, Any] | None = None,
        validate: Callable[[T], None] | None = None,
        on_change: Callable[[T, T], None] | None = None,
    ) -> None:
        """``defaults`` replaces defaults of the dataclass; ``validate`` checks what the dataclass alone
        cannot know."""
        self._settings = settings
        self._validate = validate
        self._on_change = on_change
        self._types = get_type_hints(settings)
        fields = dataclasses.fields(settings)  # type: ignore[arg-type]
        try:
            values = {
                field.name: _given_value(
                    node, field.name, self._types[field.name], (defaults or {}).get(field.name, field.default)
                )
                for field in fields
            }
            self.value: T = self._checked(settings(**values))
        except ValueError as error:
            raise ParameterError(f"node {node.get_fully_qualified_name()}: {error}") from error
        for field in fields:
            _declare(node, field, self._types[field.name], values[field.name])
        node.add_on_set_parameters_callback(self._refuse_bad)
        node.add_post_set_parameters_callback(self._apply)

    def _checked(self, settings: T) -> T:
        check(settings)
        if self._validate is not None:
            self._validate(settings)
        return settings

    def _replaced(self, changes: Sequence[Parameter]) -> T:
        known = {change.name: change.value for change in changes if change.name in self._types}
        values = {name: _as_field(self._types[name], value) for name, value in known.items()}
        return dataclasses.replace(self.value, **values)  # type: ignore[type-var]

    def _refuse_bad(self, changes: Sequence[Parameter]) -> SetParametersResult:
        try:
            self._checked(self._replaced(changes))
        except (ValueError, TypeError) as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _apply(self, changes: Sequence[Parameter]) -> None:
        previous, self.value = self.value, self._replaced(changes)
        if self.value != previous and self._on_change is not None:
            self._on_change(self.value, previous)


def _given_value(node: Node, name: str, kind: Any, default: Any) -> Any:
    """The value that command line or YAML file give, as the field's type; else the default."""
    given = node.declare_parameter(name, None, ParameterDescriptor(dynamic_typing=True)).value
    node.undeclare_parameter(name)
    if given is None:
        return default
    try:
        return _as_field(kind, given)
    except TypeError as error:
        raise ParameterError(f"parameter {name!r} {error}") from error


def _declare(node: Node, field: dataclasses.Field[Any], kind: Any, value: Any) -> None:
    type_ = _ros_type(field.name, kind)
    # By type and then by value: from an empty list alone rclpy would infer an array of bytes.
    node.declare_parameter(field.name, type_, ParameterDescriptor(), ignore_override=True)
    node.set_parameters([Parameter(field.name, type_, list(value) if isinstance(value, tuple) else value)])
    node.set_descriptor(field.name, _descriptor(field, type_))


def _as_field(kind: Any, value: Any) -> Any:
    """The value as the field's type; integers become floats where floats are meant. Raises TypeError."""
    if get_origin(kind) is tuple:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise TypeError(f"must be a list, got {value!r}")
        return tuple(_as_field(get_args(kind)[0], entry) for entry in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"must be of type {kind.__name__}, got {value!r}")
    return value


def _ros_type(name: str, kind: Any) -> Parameter.Type:
    table, entry = (_ARRAYS, get_args(kind)[0]) if get_origin(kind) is tuple else (_SCALARS, kind)
    if entry not in table:
        raise TypeError(f"field {name!r} of type {kind} cannot be a ROS parameter")
    return table[entry]


def _descriptor(field: dataclasses.Field[Any], type_: Parameter.Type) -> ParameterDescriptor:
    metadata = field.metadata
    low, high, choices = metadata.get("low"), metadata.get("high"), metadata.get("choices", ())
    descriptor = ParameterDescriptor(
        name=field.name,
        type=type_.value,
        description=metadata.get("description", ""),
        read_only=metadata.get("read_only", False),
        additional_constraints=f"one of {', '.join(choices)}" if choices else "",
    )
    if low is None and high is None:
        return descriptor
    if type_ == Parameter.Type.DOUBLE:
        descriptor.floating_point_range = [
            FloatingPointRange(
                from_value=-math.inf if low is None else float(low),
                to_value=math.inf if high is None else float(high),
            )
        ]
    elif type_ == Parameter.Type.INTEGER:
        descriptor.integer_range = [
            IntegerRange(
                from_value=_INT64_LOW if low is None else int(low),
                to_value=_INT64_HIGH if high is None else int(high),
            )
        ]
    else:
        descriptor.additional_constraints = f"every entry within {_range_text(low, high)}"
    return descriptor
