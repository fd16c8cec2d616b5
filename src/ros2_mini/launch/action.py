"""Base class of all actions."""

from __future__ import annotations

from collections.abc import Iterable

from .condition import Condition
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class Action(LaunchDescriptionEntity):
    """Something that a launch file does, optionally only under a condition."""

    def __init__(self, *, condition: Condition | None = None) -> None:
        super().__init__()
        self.__condition = condition

    @property
    def condition(self) -> Condition | None:
        return self.__condition

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Entities this action yields, as far as known before the launch runs."""
        return []

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self.get_sub_entities() if self.condition is None else []

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        if self.condition is None:
            return []
        return [("Conditionally included", self.get_sub_entities())]

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if self.condition is None or self.condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do what the action is for; the entities returned are visited next."""
        raise NotImplementedError(f"{type(self).__name__}.execute()")
