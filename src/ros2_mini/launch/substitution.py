"""Base class of everything that becomes text only when the launch runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Substitution:
    """Text that is known only in a launch context."""

    def describe(self) -> str:
        """Name the substitution for people, e.g. in ``--show-args``."""
        return f"{type(self).__name__}()"

    def perform(self, context: LaunchContext) -> str:
        """Evaluate to text."""
        raise NotImplementedError(f"{type(self).__name__}.perform()")
