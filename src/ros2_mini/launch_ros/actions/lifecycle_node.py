"""Lifecycle nodes: ChangeState events become service calls, transition messages StateTransition events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from launch.event import Event
from launch.event_handler import EventHandler
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.logging import get_logger
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.utilities import normalize_typed_substitution, perform_typed_substitution

from ..events.lifecycle import ChangeState, StateTransition, transition_names
from ..ros_adapters import get_ros_adapter
from .lifecycle_transition import TARGETS, LifecycleTransition
from .node import Node

_POLL = 0.05
_EVENT_TIMEOUT = 1.0


class LifecycleNode(Node):
    """Runs a lifecycle node; with ``autostart`` it is configured and activated."""

    def __init__(
        self,
        *,
        name: SomeSubstitutionsType,
        namespace: SomeSubstitutionsType,
        autostart: bool | SomeSubstitutionsType = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, namespace=namespace, **kwargs)
        self.__autostart = normalize_typed_substitution(autostart, bool)
        self.__client: Any = None
        self.__node: Any = None
        self.__seen: list[tuple[str, str]] = []
        self.__assumed: list[tuple[str, str]] = []

    @property
    def is_lifecycle_node(self) -> bool:
        return True

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        self._perform_substitutions(context)  # the services are named after the node
        if context.is_shutdown:
            return super().execute(context)
        adapter = get_ros_adapter(context)
        self.__node = adapter.ros_node
        adapter.run_in_spin_thread(lambda: self.__create_entities(context))
        context.register_event_handler(_OnChangeState(self))
        entities = list(super().execute(context) or [])
        if perform_typed_substitution(context, self.__autostart, bool):
            from lifecycle_msgs.msg import Transition

            ids = [Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE]
            entities.append(LifecycleTransition(lifecycle_node_names=[self.node_name], transition_ids=ids))
        return entities

    def __create_entities(self, context: LaunchContext) -> None:
        """The subscription first: then the node knows of it before any request can reach it."""
        from lifecycle_msgs.msg import TransitionEvent
        from lifecycle_msgs.srv import ChangeState as ChangeStateService

        def on_message(msg: TransitionEvent) -> None:
            context.asyncio_loop.call_soon_threadsafe(self.__on_transition, context, msg)

        self.__node.create_subscription(TransitionEvent, f"{self.node_name}/transition_event", on_message, 10)
        self.__client = self.__node.create_client(ChangeStateService, f"{self.node_name}/change_state")

    def __on_transition(self, context: LaunchContext, msg: Any) -> None:
        step = (msg.start_state.label, msg.goal_state.label)
        if step in self.__assumed:
            self.__assumed.remove(step)
            return
        self.__seen.append(step)
        context.emit_event_sync(StateTransition(action=self, msg=msg))

    def _request(self, context: LaunchContext, transition_id: int) -> None:
        task = context.asyncio_loop.create_task(self.__change_state(context, transition_id))
        context.add_completion_future(task)

    async def __change_state(self, context: LaunchContext, transition_id: int) -> None:
        from lifecycle_msgs.srv import ChangeState as ChangeStateService

        logger = get_logger("launch_ros.actions.lifecycle_node")
        name = transition_names()[transition_id]
        request = ChangeStateService.Request()
        request.transition.id = transition_id
        response: Any = None
        if await self.__wait(context, self.__client.service_is_ready):
            self.__seen.clear()
            response = self.__client.call_async(request)
            await self.__wait(context, response.done)
        if response is None or not response.done():
            logger.warning("Abandoning transition '%s' of '%s': it is shut down.", name, self.node_name)
        elif not response.result().success:
            logger.error("Failed to make transition '%s' for LifecycleNode '%s'", name, self.node_name)
        else:
            await self.__ensure_event(context, name)

    async def __wait(self, context: LaunchContext, condition: Callable[[], bool]) -> bool:
        """Wait for a condition; False if the launch or the process ends meanwhile."""
        ended = self.get_asyncio_future()
        while not condition():
            if context.is_shutdown or ended is None or ended.done():
                return False
            await asyncio.sleep(_POLL)
        return True

    async def __ensure_event(self, context: LaunchContext, name: str) -> None:
        """A transition message can get lost while the node is still discovering us; the answer is certain."""
        step = TARGETS.get(name)
        if step is None:
            return
        deadline = context.asyncio_loop.time() + _EVENT_TIMEOUT
        arrived = await self.__wait(
            context, lambda: step in self.__seen or context.asyncio_loop.time() > deadline
        )
        if arrived and step not in self.__seen:
            self.__assumed.append(step)
            context.emit_event_sync(StateTransition(action=self, msg=_message(*step)))


def _message(start: str, goal: str) -> Any:
    """What the lost transition message said, as far as known."""
    return SimpleNamespace(
        timestamp=0,
        transition=SimpleNamespace(label="transition_success"),
        start_state=SimpleNamespace(label=start),
        goal_state=SimpleNamespace(label=goal),
    )


class _OnChangeState(EventHandler):
    """ChangeState events that mean one node."""

    def __init__(self, action: LifecycleNode) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, ChangeState) and event.lifecycle_node_matcher(action)
        )
        self.__action = action

    def handle(self, event: Event, context: LaunchContext) -> None:
        super().handle(event, context)
        assert isinstance(event, ChangeState)
        self.__action._request(context, event.transition_id)
