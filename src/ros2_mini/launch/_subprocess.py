"""One child process whose output arrives at callbacks as it comes."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
from collections.abc import Callable, Mapping

OutputCallback = Callable[[bytes], None]


class _Channel:
    """Reading end of a pipe, or of a pseudo terminal where the child is to believe in a terminal."""

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: OutputCallback, *, terminal: bool) -> None:
        self._loop = loop
        self._callback = callback
        self._read_fd, self.write_fd = os.openpty() if terminal else os.pipe()
        if terminal:
            attributes = termios.tcgetattr(self.write_fd)
            attributes[1] &= ~termios.ONLCR  # lines end in \n, as from a pipe
            termios.tcsetattr(self.write_fd, termios.TCSANOW, attributes)
        os.set_blocking(self._read_fd, False)

    def begin(self) -> None:
        """Pass on what arrives from now on, and what has arrived."""
        self._loop.add_reader(self._read_fd, self._read)

    def _read(self) -> bool:
        """Pass on what has arrived; False if there is nothing (more)."""
        try:
            data = os.read(self._read_fd, 65536)
        except BlockingIOError:
            return False
        except OSError:  # a pseudo terminal without writers reads as an error
            data = b""
        if not data:
            self._loop.remove_reader(self._read_fd)
            return False
        self._callback(data)
        return True

    def close_write_end(self) -> None:
        os.close(self.write_fd)

    def finish(self) -> None:
        """Pass on the rest; do not wait for grandchildren that still hold the other end."""
        while self._read():
            pass
        self._loop.remove_reader(self._read_fd)
        os.close(self._read_fd)


class ChildProcess:
    """A running child process."""

    def __init__(self, process: asyncio.subprocess.Process, channels: tuple[_Channel, _Channel]) -> None:
        self._process = process
        self._channels = channels

    @classmethod
    async def start(
        cls,
        cmd: list[str],
        *,
        cwd: str | None,
        env: Mapping[str, str] | None,
        shell: bool,
        emulate_tty: bool,
        on_stdout: OutputCallback,
        on_stderr: OutputCallback,
    ) -> ChildProcess:
        """Start; OSError if the executable cannot be run."""
        loop = asyncio.get_running_loop()
        channels = (
            _Channel(loop, on_stdout, terminal=emulate_tty),
            _Channel(loop, on_stderr, terminal=emulate_tty),
        )
        stdin, stdout, stderr = asyncio.subprocess.PIPE, channels[0].write_fd, channels[1].write_fd
        try:
            if shell:
                process = await asyncio.create_subprocess_shell(
                    " ".join(cmd), cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr
                )
            else:
                process = await asyncio.create_subprocess_exec(
                    *cmd, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr
                )
        except BaseException:
            for channel in channels:
                channel.close_write_end()
                channel.finish()
            raise
        for channel in channels:
            channel.close_write_end()
        return cls(process, channels)

    def begin_reading(self) -> None:
        """Let output arrive at the callbacks; separate from the start, so that they can know the process."""
        for channel in self._channels:
            channel.begin()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """ProcessLookupError if the process has ended."""
        self._process.send_signal(number)

    async def wait(self) -> int:
        """Exit code, negative if a signal ended the process; all output has been passed on then."""
        returncode = await self._process.wait()
        for channel in self._channels:
            channel.finish()
        return returncode
