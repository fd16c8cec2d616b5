"""Events from and for processes."""

from __future__ import annotations

import signal as signals
from collections.abc import Callable, Mapping
from typing import Any

from ..event import Event


class RunningProcessEvent(Event):
    """Something that happened to a process that the launch started."""

    name = "launch.events.process.RunningProcessEvent"

    def __init__(
        self,
        *,
        action: Any,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: Mapping[str, str] | None,
        pid: int,
    ) -> None:
        super().__init__()
        self.__action = action
        self.__name = name
        self.__cmd = cmd
        self.__cwd = cwd
        self.__env = env
        self.__pid = pid

    @property
    def action(self) -> Any:
        return self.__action

    execute_process_action = action

    @property
    def process_name(self) -> str:
        return self.__name

    @property
    def cmd(self) -> list[str]:
        return self.__cmd

    @property
    def cwd(self) -> str | None:
        return self.__cwd

    @property
    def env(self) -> Mapping[str, str] | None:
        return self.__env

    @property
    def pid(self) -> int:
        return self.__pid


class ProcessStarted(RunningProcessEvent):
    """A process has started."""

    name = "launch.events.process.ProcessStarted"


class ProcessExited(RunningProcessEvent):
    """A process has ended."""

    name = "launch.events.process.ProcessExited"

    def __init__(self, *, returncode: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__returncode = returncode

    @property
    def returncode(self) -> int:
        return self.__returncode


class ProcessIO(RunningProcessEvent):
    """A process has printed something."""

    name = "launch.events.process.ProcessIO"

    def __init__(self, *, text: bytes, fd: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__text = text
        self.__fd = fd

    @property
    def text(self) -> bytes:
        return self.__text

    @property
    def from_stdout(self) -> bool:
        return self.__fd == 1

    @property
    def from_stderr(self) -> bool:
        return self.__fd == 2


class ProcessStdout(ProcessIO):
    """A process has printed to its standard output."""

    name = "launch.events.process.ProcessStdout"

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=1, **kwargs)


class ProcessStderr(ProcessIO):
    """A process has printed to its standard error."""

    name = "launch.events.process.ProcessStderr"

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=2, **kwargs)


class ProcessTargetedEvent(Event):
    """An event for the processes that a matcher selects."""

    name = "launch.events.process.ProcessTargetedEvent"

    def __init__(self, *, process_matcher: Callable[[Any], bool]) -> None:
        super().__init__()
        self.__process_matcher = process_matcher

    @property
    def process_matcher(self) -> Callable[[Any], bool]:
        return self.__process_matcher


class ShutdownProcess(ProcessTargetedEvent):
    """A process is to be shut down, with escalation."""

    name = "launch.events.process.ShutdownProcess"


class SignalProcess(ProcessTargetedEvent):
    """A signal is to be sent to a process."""

    name = "launch.events.process.SignalProcess"

    def __init__(
        self, *, signal_number: str | signals.Signals, process_matcher: Callable[[Any], bool]
    ) -> None:
        super().__init__(process_matcher=process_matcher)
        self.__signal = (
            signals.Signals[signal_number]
            if isinstance(signal_number, str)
            else signals.Signals(signal_number)
        )

    @property
    def signal(self) -> signals.Signals:
        return self.__signal

    @property
    def signal_name(self) -> str:
        return self.__signal.name


__all__ = [
    "ProcessExited",
    "ProcessIO",
    "ProcessStarted",
    "ProcessStderr",
    "ProcessStdout",
    "ProcessTargetedEvent",
    "RunningProcessEvent",
    "ShutdownProcess",
    "SignalProcess",
]
