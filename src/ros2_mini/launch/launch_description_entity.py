"""Base class of everything a launch description may hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Something that is visited when the launch runs and may yield further entities."""

    def describe(self) -> str:
        """Name the entity for people."""
        return f"{type(self).__name__}({hex(id(self))})"

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Entities that are certainly visited after this one, as far as known before the launch runs."""
        return []

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Entities that are visited under a condition, with that condition in words."""
        return []

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Act; the entities returned are visited next."""
        raise NotImplementedError(f"{type(self).__name__}.visit()")

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Future that is done when what this entity started has ended, None if nothing goes on."""
        return None
