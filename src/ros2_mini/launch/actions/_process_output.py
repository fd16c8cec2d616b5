"""Output of processes, line by line."""

from __future__ import annotations

import codecs
import logging
from collections.abc import Callable
from typing import Any


class LineSplitter:
    """Logs whole lines with the process's prefix, however the output was cut on its way."""

    def __init__(
        self, action: Any, output_format: str, logger: logging.Logger, on_data: Callable[[bytes], None]
    ) -> None:
        self._action = action
        self._output_format = output_format
        self._logger = logger
        self._on_data = on_data
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""

    def feed(self, data: bytes) -> None:
        self._on_data(data)
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._log(line)

    def flush(self) -> None:
        """The process has ended: log a last line without line end."""
        rest = self._rest + self._decoder.decode(b"", final=True)
        self._rest = ""
        if rest:
            self._log(rest)

    def _log(self, line: str) -> None:
        description = self._action.process_description
        text = self._output_format.format(line=line, this=self._action)
        prefix = f"[{description.final_name}]"
        extra = {
            "process_prefix": prefix if text.startswith(f"{prefix} ") else "",
            "process_number": description.final_number,
        }
        self._logger.info("%s", text, extra=extra)
