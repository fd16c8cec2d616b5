"""Base class of conditions."""

from __future__ import annotations

from collections.abc import Callable

from .launch_context import LaunchContext

_Predicate_t = Callable[[LaunchContext], bool]


class Condition:
    """A predicate over the launch context; the answer is kept from the first evaluation on."""

    def __init__(self, *, predicate: _Predicate_t | None = None) -> None:
        self._predicate = predicate
        self.__last_evaluation: bool | None = None

    def evaluate(self, context: LaunchContext) -> bool:
        """Whether the condition holds."""
        if self.__last_evaluation is None:
            if self._predicate is None:
                raise NotImplementedError("a condition without predicate must override evaluate()")
            self.__last_evaluation = self._predicate(context)
        return self.__last_evaluation
