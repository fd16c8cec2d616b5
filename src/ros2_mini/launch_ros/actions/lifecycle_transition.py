"""Transitions of lifecycle nodes, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from launch.action import Action
from launch.event import Event
from launch.event_handler import EventHandler
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.logging import get_logger
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..events.lifecycle import ChangeState, StateTransition, transition_names
from ..events.matchers import matches_node_name

#: start and goal state of the last step of each transition
TARGETS = {
    "TRANSITION_CONFIGURE": ("configuring", "inactive"),
    "TRANSITION_CLEANUP": ("cleaningup", "unconfigured"),
    "TRANSITION_ACTIVATE": ("activating", "active"),
    "TRANSITION_DEACTIVATE": ("deactivating", "inactive"),
    "TRANSITION_UNCONFIGURED_SHUTDOWN": ("shuttingdown", "finalized"),
    "TRANSITION_INACTIVE_SHUTDOWN": ("shuttingdown", "finalized"),
    "TRANSITION_ACTIVE_SHUTDOWN": ("shuttingdown", "finalized"),
}


class LifecycleTransition(Action):
    """Takes nodes through a list of transitions, each begun when the one before has reached its goal."""

    def __init__(
        self,
        *,
        lifecycle_node_names: Iterable[SomeSubstitutionsType],
        transition_ids: Iterable[int | SomeSubstitutionsType],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__names = [normalize_to_list_of_substitutions(name) for name in lifecycle_node_names]
        self.__ids = [
            normalize_to_list_of_substitutions(str(number) if isinstance(number, int) else number)
            for number in transition_ids
        ]
        if not self.__ids:
            raise ValueError("No transition_ids provided.")
        if not self.__names:
            raise ValueError("No lifecycle_node_names provided.")

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        ids = [int(perform_substitutions(context, number)) for number in self.__ids]
        for name in self.__names:
            _Sequence(context, perform_substitutions(context, name), ids).request_next()
        return None


class _Sequence:
    """The transitions of one node that are still to come."""

    def __init__(self, context: LaunchContext, node_name: str, transition_ids: list[int]) -> None:
        self._context = context
        self._node_name = node_name
        self._matches_node = matches_node_name(node_name)
        self._waiting = list(transition_ids)

    def request_next(self) -> None:
        number = self._waiting.pop(0)
        if self._waiting:
            self._register(*TARGETS[transition_names()[number]])
        self._context.emit_event_sync(
            ChangeState(lifecycle_node_matcher=self._matches_node, transition_id=number)
        )

    def _register(self, start: str, goal: str) -> None:
        def reached(event: Event) -> bool:
            return self._is_mine(event) and event.start_state == start and event.goal_state == goal  # type: ignore

        def failed(event: Event) -> bool:
            return self._is_mine(event) and event.goal_state == "errorprocessing"  # type: ignore

        handlers: list[EventHandler] = []

        def once(action: Callable[[], None]) -> Callable[[Event, LaunchContext], None]:
            def handle(event: Event, context: LaunchContext) -> None:
                for handler in handlers:
                    context.unregister_event_handler(handler)
                action()

            return handle

        handlers += [_Calls(reached, once(self.request_next)), _Calls(failed, once(self._give_up))]
        for handler in handlers:
            self._context.register_event_handler(handler)

    def _is_mine(self, event: Event) -> bool:
        return isinstance(event, StateTransition) and self._matches_node(event.action)

    def _give_up(self) -> None:
        get_logger("launch_ros.actions.lifecycle_transition").info(
            "Stopping transitions for %s because 'error occurred during transitions'", self._node_name
        )


class _Calls(EventHandler):
    """Calls a function for the events that match."""

    def __init__(
        self, matcher: Callable[[Event], bool], function: Callable[[Event, LaunchContext], None]
    ) -> None:
        super().__init__(matcher=matcher)
        self.__function = function

    def handle(self, event: Event, context: LaunchContext) -> None:
        super().handle(event, context)
        self.__function(event, context)
