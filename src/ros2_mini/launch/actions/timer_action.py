"""Actions after a time."""

from __future__ import annotations

import asyncio
import collections.abc
from collections.abc import Iterable
from typing import Any

from ..action import Action
from ..event import Event
from ..event_handler import BaseEventHandler
from ..event_handlers import OnShutdown
from ..events import TimerEvent
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType, SomeSubstitutionsType_types_tuple
from ..utilities import ensure_argument_type, normalize_typed_substitution, perform_typed_substitution


class _OnTimerEvent(BaseEventHandler):
    """Yields the actions of the timer that has elapsed."""

    def __init__(self, timer: TimerAction) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, TimerEvent) and event.timer_action is timer,
            handle_once=True,
        )
        self.__timer = timer

    def handle(self, event: Event, context: LaunchContext) -> Any:
        super().handle(event, context)
        return self.__timer.handle(context)


class TimerAction(Action):
    """Defers actions by a period in seconds, unless cancelled; fires once."""

    def __init__(
        self,
        *,
        period: float | SomeSubstitutionsType,
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: bool | SomeSubstitutionsType = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        ensure_argument_type(period, (*SomeSubstitutionsType_types_tuple, float), "period", "TimerAction")
        ensure_argument_type(actions, collections.abc.Iterable, "actions", "TimerAction")
        self.__period = normalize_typed_substitution(
            float(period) if isinstance(period, str) else period, float
        )
        self.__actions = list(actions)
        self.__cancel_on_shutdown = normalize_typed_substitution(cancel_on_shutdown, bool)
        self.__context_locals: dict[str, Any] = {}
        self.__canceled = False
        self.__handle: asyncio.TimerHandle | None = None
        self.__completed: asyncio.Future[None] | None = None

    @property
    def period(self) -> Any:
        return self.__period

    @property
    def actions(self) -> list[LaunchDescriptionEntity]:
        return self.__actions

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        return [(f"{self.__period} seconds pass without being canceled", self.__actions)]

    def handle(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Actions of the elapsed timer, with the locals of the moment it was set."""
        context.extend_locals(self.__context_locals)
        return self.__actions

    def cancel(self) -> None:
        """Do not fire; harmless if the timer has fired or was never started."""
        self.__canceled = True
        if self.__handle is not None:
            self.__handle.cancel()
        self.__complete()

    def __complete(self) -> None:
        if self.__completed is not None and not self.__completed.done():
            self.__completed.set_result(None)

    def execute(self, context: LaunchContext) -> None:
        self.__completed = context.asyncio_loop.create_future()
        if self.__canceled:
            self.__complete()
            return

        def fire() -> None:
            context.emit_event_sync(TimerEvent(timer_action=self))
            self.__complete()

        self.__context_locals = dict(context.get_locals_as_dict())
        context.register_event_handler(_OnTimerEvent(self))
        period = perform_typed_substitution(context, self.__period, float)
        self.__handle = context.asyncio_loop.call_later(period, fire)
        if perform_typed_substitution(context, self.__cancel_on_shutdown, bool):
            context.register_event_handler(OnShutdown(on_shutdown=lambda event, context: self.cancel()))

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        return self.__completed
