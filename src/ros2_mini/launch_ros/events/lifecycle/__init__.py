"""Lifecycle events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch.event import Event

_TRANSITIONS = (
    "CREATE",
    "CONFIGURE",
    "CLEANUP",
    "ACTIVATE",
    "DEACTIVATE",
    "UNCONFIGURED_SHUTDOWN",
    "INACTIVE_SHUTDOWN",
    "ACTIVE_SHUTDOWN",
    "DESTROY",
)


def transition_names() -> dict[int, str]:
    """Names of the transitions by their id."""
    from lifecycle_msgs.msg import Transition

    return {getattr(Transition, f"TRANSITION_{name}"): f"TRANSITION_{name}" for name in _TRANSITIONS}


class ChangeState(Event):
    """Lifecycle nodes are to make a transition."""

    name = "launch_ros.events.lifecycle.ChangeState"

    def __init__(self, *, lifecycle_node_matcher: Callable[[Any], bool], transition_id: int) -> None:
        super().__init__()
        names = transition_names()
        if transition_id not in names:
            options = ", ".join(f"{name}: {number}" for number, name in names.items())
            raise ValueError(f"given transition_id of '{transition_id}', expected one of {{{options}}}")
        self.__lifecycle_node_matcher = lifecycle_node_matcher
        self.__transition_id = transition_id

    @property
    def lifecycle_node_matcher(self) -> Callable[[Any], bool]:
        return self.__lifecycle_node_matcher

    @property
    def transition_id(self) -> int:
        return self.__transition_id


class StateTransition(Event):
    """A lifecycle node has changed its state."""

    name = "launch_ros.events.lifecycle.StateTransition"

    def __init__(self, *, action: Any, msg: Any) -> None:
        super().__init__()
        self.__action = action
        self.__msg = msg

    @property
    def action(self) -> Any:
        return self.__action

    @property
    def msg(self) -> Any:
        return self.__msg

    @property
    def timestamp(self) -> int:
        return self.__msg.timestamp

    @property
    def transition(self) -> str:
        return self.__msg.transition.label

    @property
    def start_state(self) -> str:
        return self.__msg.start_state.label

    @property
    def goal_state(self) -> str:
        return self.__msg.goal_state.label


__all__ = ["ChangeState", "StateTransition", "transition_names"]
