"""Types of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ros2_mini import interfaces
from ros2_mini.errors import CommandError

if TYPE_CHECKING:
    from ros2_mini.observers import Observers


def wait_for_class(view: Observers, topic: str) -> Any:
    """Message class of a topic, as soon as somebody publishes or subscribes it."""

    def types() -> list[str]:
        return dict(view.topics()).get(topic, [])

    if not view.settle(lambda: bool(types())):
        print(f"WARNING: topic [{topic}] does not appear to be published yet", flush=True)
        while not view.settle(lambda: bool(types())):
            pass
    if len(types()) > 1:
        raise CommandError(f"Topic '{topic}' has more than one type: [{', '.join(types())}]")
    return interfaces.get_class(types()[0], "msg")
