"""Plain text as a substitution."""

from __future__ import annotations

from ..launch_context import LaunchContext
from ..substitution import Substitution


class TextSubstitution(Substitution):
    """Text that is known from the start."""

    def __init__(self, *, text: str) -> None:
        super().__init__()
        if not isinstance(text, str):
            raise TypeError(f"TextSubstitution expected text, got {text!r}")
        self.__text = text

    @property
    def text(self) -> str:
        return self.__text

    def describe(self) -> str:
        return f"'{self.text}'"

    def perform(self, context: LaunchContext) -> str:
        return self.text
