"""Substitutions that evaluate to ``true`` or ``false``."""

from __future__ import annotations

import math
from typing import Any

from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.type_utils import is_substitution
from .substitution_failure import SubstitutionFailure

_TRUE = ("true", "1")
_BOOLEANS = ("true", "false", "1", "0")


def _as_text(value: bool) -> str:
    return "true" if value else "false"


def _operand(value: Any) -> list[Substitution]:
    """An operand of a comparison may be a substitution or any Python value."""
    if is_substitution(value):
        return normalize_to_list_of_substitutions(value)
    if value is None:
        return normalize_to_list_of_substitutions("")
    return normalize_to_list_of_substitutions(_as_text(value) if isinstance(value, bool) else str(value))


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


class EqualsSubstitution(Substitution):
    """Whether both sides are equal: as booleans, else as numbers, else as text."""

    def __init__(self, left: Any, right: Any) -> None:
        super().__init__()
        self.__left = _operand(left)
        self.__right = _operand(right)

    @property
    def left(self) -> list[Substitution]:
        return self.__left

    @property
    def right(self) -> list[Substitution]:
        return self.__right

    def describe(self) -> str:
        sides = (" + ".join(sub.describe() for sub in side) for side in (self.left, self.right))
        return f"{type(self).__name__}({' '.join(sides)})"

    def perform(self, context: LaunchContext) -> str:
        return _as_text(self._equal(context))

    def _equal(self, context: LaunchContext) -> bool:
        left = perform_substitutions(context, self.left)
        right = perform_substitutions(context, self.right)
        if left.lower() in _BOOLEANS and right.lower() in _BOOLEANS:
            return (left.lower() in _TRUE) == (right.lower() in _TRUE)
        numbers = (_as_float(left), _as_float(right))
        if numbers[0] is not None and numbers[1] is not None:
            return math.isclose(numbers[0], numbers[1])
        return left == right


class NotEqualsSubstitution(EqualsSubstitution):
    """Whether both sides differ."""

    def perform(self, context: LaunchContext) -> str:
        return _as_text(not self._equal(context))


def _truth(context: LaunchContext, subs: list[Substitution], owner: Substitution) -> bool:
    text = perform_substitutions(context, subs)
    if text.lower() not in _BOOLEANS:
        raise SubstitutionFailure(f"{type(owner).__name__}: '{text}' is neither true nor false")
    return text.lower() in _TRUE


class NotSubstitution(Substitution):
    """The opposite of a boolean."""

    def __init__(self, value: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__value = normalize_to_list_of_substitutions(value)

    def perform(self, context: LaunchContext) -> str:
        return _as_text(not _truth(context, self.__value, self))


class AndSubstitution(Substitution):
    """Whether both booleans are true."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__operands = [normalize_to_list_of_substitutions(side) for side in (left, right)]

    def perform(self, context: LaunchContext) -> str:
        return _as_text(all(_truth(context, operand, self) for operand in self.__operands))


class OrSubstitution(Substitution):
    """Whether at least one of both booleans is true."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__operands = [normalize_to_list_of_substitutions(side) for side in (left, right)]

    def perform(self, context: LaunchContext) -> str:
        return _as_text(any(_truth(context, operand, self) for operand in self.__operands))
