"""Actions on events and their handlers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..action import Action
from ..event import Event
from ..event_handler import BaseEventHandler
from ..events import Shutdown as ShutdownEvent
from ..events.process import ProcessExited
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity


class EmitEvent(Action):
    """Emits an event."""

    def __init__(self, *, event: Event, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(event, Event):
            raise RuntimeError(f"EmitEvent() expected an event instance, got '{event}'.")
        self.__event = event

    @property
    def event(self) -> Event:
        return self.__event

    def execute(self, context: LaunchContext) -> None:
        context.emit_event_sync(self.event)


class Shutdown(EmitEvent):
    """Shuts the launched system down; as ``on_exit`` of a process it makes that process required."""

    def __init__(self, *, reason: str = "reason not given", **kwargs: Any) -> None:
        super().__init__(event=ShutdownEvent(reason=reason), **kwargs)

    def execute(self, context: LaunchContext) -> None:
        event = context.get_locals_as_dict().get("event")
        if isinstance(event, ProcessExited):
            from ..logging import get_logger

            get_logger("launch").info(
                "process[%s] was required: shutting down launched system", event.process_name
            )
        super().execute(context)


class RegisterEventHandler(Action):
    """Registers an event handler, for events emitted from now on."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event_handler = event_handler

    @property
    def event_handler(self) -> BaseEventHandler:
        return self.__event_handler

    def execute(self, context: LaunchContext) -> None:
        context.register_event_handler(self.event_handler)

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        text, entities = self.event_handler.describe()
        return [(text, entities)] if entities else []


class UnregisterEventHandler(Action):
    """Removes an event handler."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        context.unregister_event_handler(self.__event_handler)
