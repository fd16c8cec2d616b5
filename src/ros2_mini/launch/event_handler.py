"""Event handlers: which events, and what is done then."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterable
from typing import Any

from .event import Event
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity
from .some_entities_type import SomeEntitiesType


class BaseEventHandler:
    """Matches events; sees to it that a handler for once is used once."""

    def __init__(self, *, matcher: Callable[[Event], bool], handle_once: bool = False) -> None:
        self.__matcher = matcher
        self.__handle_once = handle_once

    @property
    def handle_once(self) -> bool:
        return self.__handle_once

    def matches(self, event: Event) -> bool:
        """Whether this handler is for the event."""
        return self.__matcher(event)

    def describe(self) -> tuple[str, list[LaunchDescriptionEntity]]:
        """Name the handler and the entities it is known to yield."""
        return type(self).__name__, []

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Make the event available as ``context.locals.event``; subclasses return the entities to visit."""
        context.extend_locals({"event": event})
        if self.handle_once:
            context.unregister_event_handler(self)
        return None


class EventHandler(BaseEventHandler):
    """Yields given entities for the events that match."""

    def __init__(
        self,
        *,
        matcher: Callable[[Event], bool],
        entities: SomeEntitiesType | None = None,
        handle_once: bool = False,
    ) -> None:
        super().__init__(matcher=matcher, handle_once=handle_once)
        self.__entities = entities

    @property
    def entities(self) -> SomeEntitiesType | None:
        return self.__entities

    def describe(self) -> tuple[str, list[LaunchDescriptionEntity]]:
        return type(self).__name__, list(as_entities(self.__entities))

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        super().handle(event, context)
        return self.__entities


def as_entities(entities: Any) -> Iterable[LaunchDescriptionEntity]:
    """One entity, several or none, as an iterable."""
    if entities is None:
        return ()
    if isinstance(entities, collections.abc.Iterable):
        return [entity for entity in entities if entity is not None]
    return (entities,)
