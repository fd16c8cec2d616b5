"""The events of a launch."""

from __future__ import annotations

from typing import Any

from ..event import Event
from . import process
from .matchers import matches_action


class Shutdown(Event):
    """The launched system is to be shut down."""

    name = "launch.events.Shutdown"

    def __init__(
        self, *, reason: str = "reason not given", due_to_sigint: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__reason = reason
        self.__due_to_sigint = due_to_sigint

    @property
    def reason(self) -> str:
        return self.__reason

    @property
    def due_to_sigint(self) -> bool:
        """Whether Ctrl-C was the cause, which the terminal sends to the launched processes too."""
        return self.__due_to_sigint


class TimerEvent(Event):
    """A timer has elapsed."""

    name = "launch.events.TimerEvent"

    def __init__(self, *, timer_action: Any) -> None:
        super().__init__()
        self.__timer_action = timer_action

    @property
    def timer_action(self) -> Any:
        return self.__timer_action


class IncludeLaunchDescription(Event):
    """A launch description is to be visited."""

    name = "launch.events.IncludeLaunchDescription"

    def __init__(self, launch_description: Any) -> None:
        super().__init__()
        self.__launch_description = launch_description

    @property
    def launch_description(self) -> Any:
        return self.__launch_description


__all__ = ["IncludeLaunchDescription", "Shutdown", "TimerEvent", "matches_action", "process"]
