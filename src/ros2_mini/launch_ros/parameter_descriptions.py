"""Descriptions of parameters and parameter files."""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitutions import EnvironmentVariable, LaunchConfiguration, SubstitutionFailure
from launch.utilities import (
    ensure_argument_type,
    normalize_to_list_of_substitutions,
    normalize_typed_substitution,
    perform_substitutions,
    perform_typed_substitution,
)


class ParameterValue:
    """Value of a parameter whose type is said, or found by YAML's rules."""

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        self.__value = normalize_typed_substitution(value, value_type)
        self.__value_type = value_type

    @property
    def value(self) -> Any:
        return self.__value

    @property
    def value_type(self) -> Any:
        return self.__value_type

    def evaluate(self, context: LaunchContext) -> Any:
        return perform_typed_substitution(context, self.value, self.value_type)


class Parameter:
    """Name and value of one parameter."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, value_type: Any = None) -> None:
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = ParameterValue(value, value_type=value_type)

    def evaluate(self, context: LaunchContext) -> tuple[str, Any]:
        return perform_substitutions(context, self.__name), self.__value.evaluate(context)


class ParameterFile:
    """A YAML file of parameters; ``$(var …)``, ``$(env …)`` and ``$(find-pkg-share …)`` may stand in it."""

    def __init__(
        self,
        param_file: SomeSubstitutionsType | os.PathLike[str],
        *,
        allow_substs: bool | SomeSubstitutionsType = False,
    ) -> None:
        ensure_argument_type(allow_substs, (bool,), "allow_subst", "ParameterFile()")
        self.__param_file = (
            param_file
            if isinstance(param_file, os.PathLike)
            else normalize_to_list_of_substitutions(param_file)
        )
        self.__allow_substs = allow_substs
        self.__evaluated: Path | None = None

    def evaluate(self, context: LaunchContext) -> Path:
        """Path of the file, with substitutions of a copy of it."""
        if self.__evaluated is None:
            given = self.__param_file
            path = Path(given if isinstance(given, os.PathLike) else perform_substitutions(context, given))
            self.__evaluated = self.__substituted(context, path) if self.__allow_substs else path
        return self.__evaluated

    def __substituted(self, context: LaunchContext, path: Path) -> Path:
        import yaml

        try:
            text = yaml.safe_dump(yaml.safe_load(path.read_text(encoding="utf-8")))  # drops the comments
            text = substitute(context, text, path)
            yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise SubstitutionFailure(
                f"The parameter file {path} is not a valid yaml file: {error}"
            ) from error
        with tempfile.NamedTemporaryFile("w", prefix="launch_params_", delete=False) as copy:
            copy.write(text)
        atexit.register(Path(copy.name).unlink, missing_ok=True)
        return Path(copy.name)


_SUBSTITUTION = re.compile(r"\$\((?P<kind>[a-z-]+)\s+(?P<argument>[^\s()]+)(?:\s+(?P<default>[^()]*))?\)")


def substitute(context: LaunchContext, text: str, path: Path) -> str:
    """Replace ``$(var name default)``, ``$(env NAME default)`` and ``$(find-pkg-share package)``."""
    from .substitutions import FindPackageShare

    def replace(match: re.Match[str]) -> str:
        kind, argument, default = match["kind"], match["argument"], match["default"]
        if kind == "var":
            return LaunchConfiguration(argument, default=default).perform(context)
        if kind == "env":
            return EnvironmentVariable(argument, default_value=default).perform(context)
        if kind == "find-pkg-share":
            return FindPackageShare(argument).perform(context)
        raise SubstitutionFailure(f"{path}: the substitution $({kind} …) needs a full ROS 2")

    return _SUBSTITUTION.sub(replace, text)
