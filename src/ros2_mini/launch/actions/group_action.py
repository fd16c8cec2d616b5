"""Groups of actions with a scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..action import Action
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from .configurations import (
    PopLaunchConfigurations,
    PushLaunchConfigurations,
    ResetLaunchConfigurations,
    SetLaunchConfiguration,
)
from .environment import PopEnvironment, PushEnvironment, ResetEnvironment


class GroupAction(Action):
    """Actions under one condition, with launch configurations and environment of their own if ``scoped``."""

    def __init__(
        self,
        actions: Iterable[LaunchDescriptionEntity],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        **left_over_kwargs: Any,
    ) -> None:
        super().__init__(**left_over_kwargs)
        self.__actions = list(actions)
        self.__scoped = scoped
        self.__forwarding = forwarding
        self.__launch_configurations = dict(launch_configurations or {})
        self.__entities: list[LaunchDescriptionEntity] | None = None

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        if self.__entities is None:
            self.__entities = self.__wrapped()
        return self.__entities

    def __wrapped(self) -> list[LaunchDescriptionEntity]:
        sets = [SetLaunchConfiguration(name, value) for name, value in self.__launch_configurations.items()]
        if not self.__scoped:
            return [*sets, *self.__actions]
        opening: list[LaunchDescriptionEntity] = [PushLaunchConfigurations(), PushEnvironment()]
        if self.__forwarding:
            opening += sets
        else:
            opening += [ResetEnvironment(), ResetLaunchConfigurations(self.__launch_configurations)]
        return [*opening, *self.__actions, PopEnvironment(), PopLaunchConfigurations()]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return self.get_sub_entities()
