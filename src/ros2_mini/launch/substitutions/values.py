"""Substitutions for configurations, environment, locals, expressions and paths."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from typing import Any

from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from .substitution_failure import SubstitutionFailure


def _describe(subs: Iterable[Substitution]) -> str:
    return " + ".join(sub.describe() for sub in subs)


class LaunchConfiguration(Substitution):
    """Value of a launch configuration, which every launch argument is."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any | None = None) -> None:
        super().__init__()
        self.__variable_name = normalize_to_list_of_substitutions(variable_name)
        self.__default: list[Substitution] | None = None
        if default is not None:
            given = default if isinstance(default, (str, Substitution, list, tuple)) else str(default)
            self.__default = normalize_to_list_of_substitutions(given)

    @property
    def variable_name(self) -> list[Substitution]:
        return self.__variable_name

    def describe(self) -> str:
        return f"LaunchConfig({_describe(self.variable_name)})"

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.variable_name)
        if name in context.launch_configurations:
            return str(context.launch_configurations[name])
        if self.__default is None:
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist")
        return perform_substitutions(context, self.__default)


class EnvironmentVariable(Substitution):
    """Value of an environment variable."""

    def __init__(
        self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None
    ) -> None:
        super().__init__()
        self.__name = normalize_to_list_of_substitutions(name)
        self.__default_value = (
            None if default_value is None else normalize_to_list_of_substitutions(default_value)
        )

    @property
    def name(self) -> list[Substitution]:
        return self.__name

    def describe(self) -> str:
        return f"EnvVar({_describe(self.name)})"

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self.name)
        if name in context.environment:
            return context.environment[name]
        if self.__default_value is None:
            raise SubstitutionFailure(f"environment variable '{name}' does not exist")
        return perform_substitutions(context, self.__default_value)


class PathJoinSubstitution(Substitution):
    """Parts of a path, joined as ``os.path.join`` does."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        super().__init__()
        self.__substitutions = [normalize_to_list_of_substitutions(part) for part in substitutions]

    @property
    def substitutions(self) -> list[list[Substitution]]:
        return self.__substitutions

    def describe(self) -> str:
        return f"PathJoin({', '.join(_describe(part) for part in self.substitutions)})"

    def perform(self, context: LaunchContext) -> str:
        return os.path.join(*(perform_substitutions(context, part) for part in self.substitutions))


class PythonExpression(Substitution):
    """Result of a Python expression; ``math``'s names are known in it."""

    def __init__(
        self, expression: SomeSubstitutionsType, python_modules: SomeSubstitutionsType = ("math",)
    ) -> None:
        super().__init__()
        self.__expression = normalize_to_list_of_substitutions(expression)
        self.__python_modules = normalize_to_list_of_substitutions(python_modules)

    @property
    def expression(self) -> list[Substitution]:
        return self.__expression

    @property
    def python_modules(self) -> list[Substitution]:
        return self.__python_modules

    def describe(self) -> str:
        modules = ", ".join(sub.describe() for sub in self.python_modules)
        return f"PythonExpr({_describe(self.expression)}, [{modules}])"

    def perform(self, context: LaunchContext) -> str:
        names: dict[str, Any] = {}
        for sub in self.python_modules:
            module = importlib.import_module(context.perform_substitution(sub))
            if module.__name__ == "math":
                names.update(vars(module))
            names[module.__name__] = module
        text = perform_substitutions(context, self.expression)
        try:
            return str(eval(text, {}, names))  # evaluating what the launch file says is this class's purpose
        except Exception as error:
            raise SubstitutionFailure(
                f"PythonExpression({text!r}): {type(error).__name__}: {error}"
            ) from error


class LocalSubstitution(Substitution):
    """Value from the context's locals, e.g. ``LocalSubstitution('event.reason')`` in an event handler."""

    def __init__(self, expression: str, description: str | None = None) -> None:
        super().__init__()
        self.__expression = expression
        self.__description = description

    @property
    def expression(self) -> str:
        return self.__expression

    def describe(self) -> str:
        return f"LocalVar('{self.__description or self.expression}')"

    def perform(self, context: LaunchContext) -> str:
        return str(eval("context.locals." + self.expression, {}, {"context": context}))


class ThisLaunchFile(Substitution):
    """Path of the launch file being visited."""

    def describe(self) -> str:
        return "ThisLaunchFile()"

    def perform(self, context: LaunchContext) -> str:
        path = context.get_locals_as_dict().get("current_launch_file_path")
        if path is None:
            raise SubstitutionFailure("ThisLaunchFile used outside of a launch file (in a script)")
        return str(path)


class ThisLaunchFileDir(Substitution):
    """Folder of the launch file being visited."""

    def describe(self) -> str:
        return "ThisLaunchFileDir()"

    def perform(self, context: LaunchContext) -> str:
        directory = context.get_locals_as_dict().get("current_launch_file_directory")
        if directory is None:
            raise SubstitutionFailure("ThisLaunchFileDir used outside of a launch file (in a script)")
        return str(directory)
