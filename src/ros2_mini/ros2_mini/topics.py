"""Types of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ros2_mini import interfaces
from ros2_mini.errors import CommandError

if TYPE_CHECKING:
    from ros2_mini.observers import Observers


def wait_for_class(view: Observers, topic: str) -> Any:
    """Message class of a topic, as soon as somebody publishes or subscribes it."""
    while (cls := _class_of(view, topic)) is None:
        pass
    return cls


def require_class(view: Observers, topic: str) -> Any:
    """Message class of a topic that somebody publishes or subscribes."""
    cls = _class_of(view, topic)
    if cls is None:
        raise CommandError("Could not determine the type for the passed topic")
    return cls


def _class_of(view: Observers, topic: str) -> Any:
    def types() -> list[str]:
        return dict(view.topics()).get(topic, [])

    if not view.settle(lambda: bool(types())):
        print(f"WARNING: topic [{topic}] does not appear to be published yet", flush=True)
        return None
    if len(types()) > 1:
        raise CommandError(f"Topic '{topic}' has more than one type: [{', '.join(types())}]")
    return interfaces.get_class(types()[0], "msg")
