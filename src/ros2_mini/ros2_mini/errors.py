"""Errors of the command line."""

from __future__ import annotations


class CommandError(Exception):
    """Ends a command with a sentence for the user and an exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
