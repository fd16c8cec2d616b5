"""Including other launch files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ..action import Action
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..launch_description_source import LaunchDescriptionSource
from ..launch_description_sources import AnyLaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from .configurations import SetLaunchConfiguration
from .simple import OpaqueFunction

_LOCALS = ("current_launch_file_path", "current_launch_file_directory")


class IncludeLaunchDescription(Action):
    """Visits another launch description, with launch arguments.

    As in real launch, the arguments become launch configurations of the including scope: put the include
    into a GroupAction to keep them from what follows.
    """

    def __init__(
        self,
        launch_description_source: LaunchDescriptionSource | SomeSubstitutionsType,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self.__source = launch_description_source
        self.__launch_arguments = () if launch_arguments is None else tuple(launch_arguments)

    @property
    def launch_description_source(self) -> LaunchDescriptionSource:
        return self.__source

    @property
    def launch_arguments(self) -> tuple[tuple[SomeSubstitutionsType, SomeSubstitutionsType], ...]:
        return self.__launch_arguments

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        description = self.__source.try_get_launch_description_without_context()
        return [description] if description is not None else []

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        description = self.__source.get_launch_description(context)
        given = [
            perform_substitutions(context, normalize_to_list_of_substitutions(name))
            for name, _ in self.launch_arguments
        ]
        for argument in description.get_launch_arguments(only_local=True):
            needed = argument.default_value is None and not argument._conditionally_included
            if needed and argument.name not in given:
                raise RuntimeError(
                    f"Included launch description missing required argument '{argument.name}' "
                    f"(description: '{argument.description}'), given: [{', '.join(given)}]"
                )
        previous = {key: context.get_locals_as_dict().get(key) for key in _LOCALS}
        path = os.path.abspath(self.__source.location)
        directory = os.path.dirname(path) if os.path.exists(path) else self.__source.location
        context.extend_locals({"current_launch_file_path": path, "current_launch_file_directory": directory})
        return [
            *(SetLaunchConfiguration(name, value) for name, value in self.launch_arguments),
            description,
            OpaqueFunction(function=lambda context: context.extend_locals(previous)),
        ]
