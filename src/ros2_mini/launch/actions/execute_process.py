"""Running commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..descriptions import Executable
from ..some_substitutions_type import SomeSubstitutionsType
from .execute_local import ExecuteLocal


class ExecuteProcess(ExecuteLocal):
    """Runs a command."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        additional_env: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        description = Executable(
            cmd=cmd, prefix=prefix, name=name, cwd=cwd, env=env, additional_env=additional_env
        )
        super().__init__(process_description=description, **kwargs)

    @property
    def name(self) -> str:
        """Label of the process, known once it was executed."""
        return self.process_description.final_name

    @property
    def cmd(self) -> list[Any]:
        return self.process_description.cmd
