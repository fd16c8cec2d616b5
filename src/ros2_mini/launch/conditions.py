"""The conditions that launch files use."""

from __future__ import annotations

from collections.abc import Sequence

from .condition import Condition
from .launch_context import LaunchContext
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

_TRUE = ("true", "1")
_FALSE = ("false", "0")


class InvalidConditionExpressionError(Exception):
    """Text that is neither true nor false."""


def evaluate_condition_expression(context: LaunchContext, expression: Sequence[Substitution]) -> bool:
    """Evaluate to a boolean: ``true``/``1`` or ``false``/``0``, in any case, blanks around ignored."""
    text = perform_substitutions(context, expression)
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise InvalidConditionExpressionError(
        f"invalid condition expression, expected one of ['true', '1'] or ['false', '0'] but got '{text}'"
    )


class IfCondition(Condition):
    """Holds if the expression is true."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self.__expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=lambda context: evaluate_condition_expression(context, self.__expression))


class UnlessCondition(Condition):
    """Holds if the expression is false."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self.__expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(
            predicate=lambda context: not evaluate_condition_expression(context, self.__expression)
        )


__all__ = [
    "IfCondition",
    "InvalidConditionExpressionError",
    "UnlessCondition",
    "evaluate_condition_expression",
]
