"""Parameters as launch files give them, evaluated to files and values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from launch.launch_context import LaunchContext
from launch.substitution import Substitution
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..parameter_descriptions import Parameter, ParameterFile, ParameterValue

EvaluatedParameters = list[Path | dict[str, Any] | tuple[str, Any]]
_SCALARS = (bool, int, float, str)


def evaluate_parameters(context: LaunchContext, parameters: Sequence[Any]) -> EvaluatedParameters:
    """Paths of parameter files, dictionaries of values and single ``(name, value)`` rules, in order."""
    evaluated: EvaluatedParameters = []
    for parameter in parameters:
        if isinstance(parameter, Mapping):
            evaluated.append(evaluate_parameter_dict(context, parameter))
        elif isinstance(parameter, (ParameterFile, Parameter)):
            evaluated.append(parameter.evaluate(context))
        elif isinstance(parameter, os.PathLike):
            evaluated.append(Path(parameter))
        else:
            evaluated.append(
                Path(perform_substitutions(context, normalize_to_list_of_substitutions(parameter)))
            )
    return evaluated


def evaluate_parameter_dict(
    context: LaunchContext, parameters: Mapping[Any, Any], prefix: str = ""
) -> dict[str, Any]:
    """Values by name; nested dictionaries become names with dots.

    Text stays text. What comes from a substitution is read by YAML's rules, as in real launch_ros; wrap it
    in ParameterValue to say the type.
    """
    evaluated: dict[str, Any] = {}
    for key, value in parameters.items():
        name = prefix + perform_substitutions(context, normalize_to_list_of_substitutions(key))
        if isinstance(value, Mapping):
            evaluated.update(evaluate_parameter_dict(context, value, f"{name}."))
        else:
            evaluated[name] = _evaluate_value(context, name, value)
    return evaluated


def _evaluate_value(context: LaunchContext, name: str, value: Any) -> Any:
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, Substitution):
        return _read(context, name, [value])
    if isinstance(value, (*_SCALARS, bytes)):
        return value
    if isinstance(value, Sequence):
        return _evaluate_sequence(context, name, value)
    raise TypeError(f"parameter '{name}': unexpected type of value {value!r}")


def _evaluate_sequence(context: LaunchContext, name: str, value: Sequence[Any]) -> Any:
    if not value:
        raise TypeError(f"parameter '{name}': an empty list has no type; leave it to the node's default")
    if any(isinstance(item, Substitution) for item in value):
        if all(isinstance(item, (str, Substitution)) for item in value):
            return _read(context, name, normalize_to_list_of_substitutions(value))
        raise TypeError(f"parameter '{name}': {value!r} mixes substitutions and values; put each into a list")
    if any(isinstance(item, Sequence) and not isinstance(item, str) for item in value):
        items = [
            _read(context, name, normalize_to_list_of_substitutions(item))
            if not isinstance(item, _SCALARS)
            else item
            for item in value
        ]
    else:
        items = list(value)
    if {type(item) for item in items} == {int, float}:
        items = [float(item) for item in items]
    if len({type(item) for item in items}) != 1 or not isinstance(items[0], _SCALARS):
        raise TypeError(
            f"parameter '{name}': expected a non-empty sequence, with items of uniform type "
            f"(bool, int, float, str), got {value!r}"
        )
    return items


def _read(context: LaunchContext, name: str, subs: list[Substitution]) -> Any:
    import yaml

    text = perform_substitutions(context, subs)
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(
            f"parameter '{name}': '{text}' does not read as YAML ({error}); "
            "if it is text, use ParameterValue(…, value_type=str)"
        ) from error
    if value is None and text == "":
        return ""
    if isinstance(value, (*_SCALARS, bytes)):
        return value
    if isinstance(value, list):
        return _evaluate_sequence(context, name, value)
    raise TypeError(
        f"parameter '{name}': '{text}' reads as {type(value).__name__}, which no parameter can hold"
    )
