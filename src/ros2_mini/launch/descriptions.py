"""What is needed to run an executable, and what becomes of it in a context."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from .launch_context import LaunchContext
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution
from .substitutions import LaunchConfiguration
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

_process_numbers = itertools.count(1)
_Environment = Mapping[SomeSubstitutionsType, SomeSubstitutionsType]


def _pairs(env: _Environment | None) -> list[tuple[list[Substitution], list[Substitution]]]:
    return [
        (normalize_to_list_of_substitutions(name), normalize_to_list_of_substitutions(value))
        for name, value in (env or {}).items()
    ]


class Executable:
    """Command, folder, environment and label of a process."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: _Environment | None = None,
        additional_env: _Environment | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
    ) -> None:
        self.cmd = [normalize_to_list_of_substitutions(part) for part in (*cmd, *(arguments or ()))]
        self.name = None if name is None else normalize_to_list_of_substitutions(name)
        self.cwd = None if cwd is None else normalize_to_list_of_substitutions(cwd)
        self._prefix_given = prefix is not None
        self.prefix = normalize_to_list_of_substitutions(
            LaunchConfiguration("launch-prefix", default="") if prefix is None else prefix
        )
        self.env = None if env is None else _pairs(env)
        self.additional_env = _pairs(additional_env)
        self.final_cmd: list[str] = []
        self.final_name = ""
        self.final_number = 0
        self.final_cwd: str | None = None
        self.final_env: dict[str, str] = {}

    def prepare(self, context: LaunchContext, action: Any) -> None:
        """Evaluate all substitutions and give the process its number."""
        cmd = [perform_substitutions(context, part) for part in self.cmd]
        label = os.path.basename(cmd[0])
        if self._prefix_given or self._filter_matches(context, label):
            cmd = shlex.split(perform_substitutions(context, self.prefix)) + cmd
        self.final_cmd = cmd
        name = os.path.basename(cmd[0]) if self.name is None else perform_substitutions(context, self.name)
        self.final_number = next(_process_numbers)
        self.final_name = f"{name}-{self.final_number}"
        self.final_cwd = None if self.cwd is None else perform_substitutions(context, self.cwd)
        self.final_env = dict(context.environment) if self.env is None else self._perform(context, self.env)
        self.final_env.update(self._perform(context, self.additional_env))

    @staticmethod
    def _filter_matches(context: LaunchContext, label: str) -> bool:
        pattern = LaunchConfiguration("launch-prefix-filter", default="").perform(context)
        return re.match(pattern, label) is not None

    @staticmethod
    def _perform(
        context: LaunchContext, pairs: list[tuple[list[Substitution], list[Substitution]]]
    ) -> dict[str, str]:
        return {
            perform_substitutions(context, name): perform_substitutions(context, value)
            for name, value in pairs
        }
