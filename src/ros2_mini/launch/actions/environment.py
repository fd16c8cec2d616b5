"""Actions on the environment of launched processes."""

from __future__ import annotations

import os
from typing import Any

from ..action import Action
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import (
    normalize_to_list_of_substitutions,
    normalize_typed_substitution,
    perform_substitutions,
    perform_typed_substitution,
)


class SetEnvironmentVariable(Action):
    """Set an environment variable."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)

    @property
    def name(self) -> list[Substitution]:
        return self.__name

    @property
    def value(self) -> list[Substitution]:
        return self.__value

    def execute(self, context: LaunchContext) -> None:
        name = perform_substitutions(context, self.name)
        context.environment[name] = perform_substitutions(context, self.value)


class UnsetEnvironmentVariable(Action):
    """Remove an environment variable."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)

    def execute(self, context: LaunchContext) -> None:
        context.environment.pop(perform_substitutions(context, self.__name), None)


class AppendEnvironmentVariable(Action):
    """Append (or prepend) to an environment variable."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        prepend: bool | SomeSubstitutionsType = False,
        separator: SomeSubstitutionsType = os.pathsep,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)
        self.__prepend = normalize_typed_substitution(prepend, bool)
        self.__separator = normalize_to_list_of_substitutions(separator)

    def execute(self, context: LaunchContext) -> None:
        name = perform_substitutions(context, self.__name)
        parts = [context.environment[name]] if name in context.environment else []
        prepend = perform_typed_substitution(context, self.__prepend, bool)
        parts.insert(0 if prepend else len(parts), perform_substitutions(context, self.__value))
        context.environment[name] = perform_substitutions(context, self.__separator).join(parts)


class PushEnvironment(Action):
    """Begin a scope of the environment."""

    def execute(self, context: LaunchContext) -> None:
        context._push_environment()


class PopEnvironment(Action):
    """End a scope of the environment."""

    def execute(self, context: LaunchContext) -> None:
        context._pop_environment()


class ResetEnvironment(Action):
    """Go back to the environment that the launch was started with."""

    def execute(self, context: LaunchContext) -> None:
        context._reset_environment()
