"""Small actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..action import Action
from ..event_handler import as_entities
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class LogInfo(Action):
    """Prints a message."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__msg = normalize_to_list_of_substitutions(msg)

    @property
    def msg(self) -> list[Substitution]:
        return self.__msg

    def execute(self, context: LaunchContext) -> None:
        from ..logging import get_logger

        get_logger("launch.user").info("%s", perform_substitutions(context, self.msg))


class OpaqueFunction(Action):
    """Calls a function with the context; the entities it returns are visited next."""

    def __init__(
        self,
        *,
        function: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        **left_over_kwargs: Any,
    ) -> None:
        super().__init__(**left_over_kwargs)
        if not callable(function):
            raise TypeError("OpaqueFunction expected a callable as 'function'")
        self.__function = function
        self.__args = list(args) if args is not None else []
        self.__kwargs = dict(kwargs) if kwargs is not None else {}

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return list(as_entities(self.__function(context, *self.__args, **self.__kwargs)))
