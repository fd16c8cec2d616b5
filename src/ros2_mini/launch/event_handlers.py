"""The event handlers that launch files use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .event import Event
from .event_handler import BaseEventHandler, EventHandler, as_entities
from .events import IncludeLaunchDescription, Shutdown
from .events.process import ProcessExited, ProcessIO, ProcessStarted
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity
from .some_entities_type import SomeEntitiesType

ActionMatcher = Callable[[Any], bool] | LaunchDescriptionEntity | None


class OnActionEventBase(BaseEventHandler):
    """Handles one kind of event, of one action, of those a callable selects, or of all."""

    def __init__(
        self,
        *,
        action_matcher: ActionMatcher,
        on_event: Any,
        target_event_cls: type[Event],
        **kwargs: Any,
    ) -> None:
        from .actions import ExecuteLocal

        if not (
            action_matcher is None or isinstance(action_matcher, ExecuteLocal) or callable(action_matcher)
        ):
            raise TypeError("action_matcher must be an 'ExecuteLocal' instance or a callable")

        def matches(event: Event) -> bool:
            if not isinstance(event, target_event_cls):
                return False
            action = event.action  # type: ignore[attr-defined]
            if callable(action_matcher):
                return action_matcher(action)
            return action_matcher is None or action is action_matcher

        super().__init__(matcher=matches, **kwargs)
        self.__on_event = on_event
        if not callable(on_event):
            for entity in as_entities(on_event):
                if not isinstance(entity, LaunchDescriptionEntity):
                    raise TypeError(f"{type(self).__name__} expected actions or a callable, got {entity!r}")

    def describe(self) -> tuple[str, list[LaunchDescriptionEntity]]:
        return type(self).__name__, [] if callable(self.__on_event) else list(as_entities(self.__on_event))

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        super().handle(event, context)
        if callable(self.__on_event):
            return self.__on_event(event, context)
        return self.__on_event


class OnProcessExit(OnActionEventBase):
    """When a process has ended."""

    def __init__(self, *, target_action: ActionMatcher = None, on_exit: Any, **kwargs: Any) -> None:
        super().__init__(
            action_matcher=target_action, on_event=on_exit, target_event_cls=ProcessExited, **kwargs
        )


class OnProcessStart(OnActionEventBase):
    """When a process has started."""

    def __init__(self, *, target_action: ActionMatcher = None, on_start: Any, **kwargs: Any) -> None:
        super().__init__(
            action_matcher=target_action, on_event=on_start, target_event_cls=ProcessStarted, **kwargs
        )


class OnProcessIO(OnActionEventBase):
    """When a process has printed something."""

    def __init__(
        self,
        *,
        target_action: ActionMatcher = None,
        on_stdin: Callable[[ProcessIO], Any] | None = None,
        on_stdout: Callable[[ProcessIO], Any] | None = None,
        on_stderr: Callable[[ProcessIO], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        def handle(event: Event, _context: LaunchContext) -> SomeEntitiesType | None:
            assert isinstance(event, ProcessIO)
            callback = on_stdout if event.from_stdout else on_stderr
            return callback(event) if callback is not None else None

        super().__init__(action_matcher=target_action, on_event=handle, target_event_cls=ProcessIO, **kwargs)


class OnShutdown(BaseEventHandler):
    """When the launched system is shut down."""

    def __init__(self, *, on_shutdown: Any, **kwargs: Any) -> None:
        super().__init__(matcher=lambda event: isinstance(event, Shutdown), **kwargs)
        self.__on_shutdown = on_shutdown

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        super().handle(event, context)
        if callable(self.__on_shutdown):
            return self.__on_shutdown(event, context)
        return self.__on_shutdown


class OnIncludeLaunchDescription(EventHandler):
    """Visits the launch description of an IncludeLaunchDescription event."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(matcher=lambda event: isinstance(event, IncludeLaunchDescription), **kwargs)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        super().handle(event, context)
        assert isinstance(event, IncludeLaunchDescription)
        return event.launch_description


__all__ = [
    "OnActionEventBase",
    "OnIncludeLaunchDescription",
    "OnProcessExit",
    "OnProcessIO",
    "OnProcessStart",
    "OnShutdown",
]
