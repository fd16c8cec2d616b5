"""The error of a launch file that cannot be loaded."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence


class InvalidLaunchFileError(Exception):
    """A launch file that is missing, of a format that is not supported, or raises while it is loaded."""

    def __init__(
        self, extension: str = "", *, likely_errors: Sequence[BaseException] = (), path: str = ""
    ) -> None:
        self._extension = extension
        self._likely_errors = list(likely_errors)
        self._path = path
        super().__init__(str(self))

    def __str__(self) -> str:
        if not self._likely_errors:
            return f"The launch file '{self._path}' may have a syntax error, or its format is unknown"
        error = self._likely_errors[0]
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        where = self._line_of(error)
        kind = self._extension.lstrip(".")
        return f"Caught exception when trying to load file of format [{kind}]: {text}{where}"

    def _line_of(self, error: BaseException) -> str:
        """Name the line of the launch file that raised, so that no traceback is needed."""
        path = os.path.abspath(self._path)
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if os.path.abspath(frame.filename) == path
        ]
        if isinstance(error, SyntaxError) and error.lineno is not None:
            return ""  # Python's own message already says where
        return f" ({os.path.basename(path)}, line {lines[-1]})" if lines else f" ({path})"
