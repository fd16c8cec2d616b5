"""Ending a process: SIGINT, after a time SIGTERM, after another SIGKILL."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from typing import Any

from .._subprocess import ChildProcess
from ..event import Event
from ..event_handler import BaseEventHandler
from ..events.process import ProcessTargetedEvent, SignalProcess
from ..launch_context import LaunchContext


class Signaller:
    """Sends signals to one process and says so."""

    def __init__(self, child: ChildProcess, name: str, logger: logging.Logger) -> None:
        self._child = child
        self._name = name
        self._logger = logger

    def send(self, number: signal.Signals) -> None:
        """Nothing happens if the process has ended."""
        if self._child.returncode is not None:
            return
        self._logger.info("sending signal '%s' to process[%s]", number.name, self._name)
        with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
            self._child.send_signal(number)

    async def escalate(self, send_sigint: bool, sigterm_timeout: float, sigkill_timeout: float) -> None:
        """End the process; cancelled as soon as it has ended."""
        if send_sigint:
            self.send(signal.SIGINT)
        await asyncio.sleep(sigterm_timeout)
        self._complain(sigterm_timeout, "SIGINT", "SIGTERM")
        self.send(signal.SIGTERM)
        await asyncio.sleep(sigkill_timeout)
        self._complain(sigterm_timeout + sigkill_timeout, "SIGTERM", "SIGKILL")
        self.send(signal.SIGKILL)

    def _complain(self, seconds: float, ignored: str, next_signal: str) -> None:
        self._logger.error(
            "process[%s] failed to terminate '%g' seconds after receiving '%s', escalating to '%s'",
            self._name,
            seconds,
            ignored,
            next_signal,
        )


class OnTargetedEvent(BaseEventHandler):
    """ShutdownProcess and SignalProcess events that mean one action."""

    def __init__(self, action: Any) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, ProcessTargetedEvent) and event.process_matcher(action)
        )
        self.__action = action

    def handle(self, event: Event, context: LaunchContext) -> None:
        super().handle(event, context)
        if isinstance(event, SignalProcess):
            self.__action._send_signal(event.signal)
        else:
            self.__action._shutdown_process(context, send_sigint=True)
