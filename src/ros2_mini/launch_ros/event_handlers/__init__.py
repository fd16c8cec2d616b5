"""Event handlers for ROS 2 nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch.event import Event
from launch.event_handler import EventHandler
from launch.some_entities_type import SomeEntitiesType

from ..events.lifecycle import StateTransition


class OnStateTransition(EventHandler):
    """When a lifecycle node has changed its state; what is not given matches anything."""

    def __init__(
        self,
        *,
        entities: SomeEntitiesType,
        target_lifecycle_node: Any | None = None,
        transition: str | None = None,
        start_state: str | None = None,
        goal_state: str | None = None,
        matcher: Callable[[Event], bool] | None = None,
        **kwargs: Any,
    ) -> None:
        from ..actions.lifecycle_node import LifecycleNode

        if not isinstance(target_lifecycle_node, (LifecycleNode, type(None))):
            raise RuntimeError('OnStateTransition requires a "LifecycleNode" action as the target')

        def matches(event: Event) -> bool:
            return (
                isinstance(event, StateTransition)
                and target_lifecycle_node in (None, event.action)
                and transition in (None, event.transition)
                and start_state in (None, event.start_state)
                and goal_state in (None, event.goal_state)
            )

        super().__init__(matcher=matcher or matches, entities=entities, **kwargs)


__all__ = ["OnStateTransition"]
