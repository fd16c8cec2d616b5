"""Launch descriptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .actions import DeclareLaunchArgument


class LaunchDescription(LaunchDescriptionEntity):
    """What is to be launched: a list of entities, visited in order."""

    def __init__(
        self,
        initial_entities: Iterable[LaunchDescriptionEntity] | None = None,
        *,
        deprecated_reason: str | None = None,
    ) -> None:
        self.__entities = list(initial_entities) if initial_entities is not None else []
        self.__deprecated_reason = deprecated_reason

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        return self.__entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        self.__entities.append(entity)

    def add_action(self, action: LaunchDescriptionEntity) -> None:
        self.add_entity(action)

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if self.__deprecated_reason is not None:
            from .logging import get_logger

            get_logger("launch").warning("deprecated launch description: %s", self.__deprecated_reason)
        return self.__entities

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self.__entities

    def get_launch_arguments(
        self, conditional_inclusion: bool = False, *, only_local: bool = False
    ) -> list[DeclareLaunchArgument]:
        """Arguments declared here and, unless ``only_local``, in included launch files, each name once."""
        from .actions import DeclareLaunchArgument, IncludeLaunchDescription, ResetLaunchConfigurations

        found: dict[str, Any] = {}

        def search(entities: Iterable[LaunchDescriptionEntity], conditional: bool) -> None:
            for entity in entities:
                if isinstance(entity, DeclareLaunchArgument) and entity.name not in found:
                    entity._conditionally_included = conditional or entity.condition is not None
                    found[entity.name] = entity
                if isinstance(entity, ResetLaunchConfigurations):
                    return  # from here on, arguments cannot be set from outside
                if only_local and isinstance(entity, IncludeLaunchDescription):
                    continue
                search(entity.describe_sub_entities(), conditional)
                for _, sub_entities in entity.describe_conditional_sub_entities():
                    search(sub_entities, True)

        search(self.entities, conditional_inclusion)
        return list(found.values())
