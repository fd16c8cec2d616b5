"""Real processes that end with their test, whatever happens in it.

::

    def test_something(processes: Processes) -> None:
        plant = processes.run("explore_context", "pendulum_plant", "-p", "mode:=realtime")
        plant.wait_for_output("session")
        assert plant.stop(signal.SIGINT) == 0
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from tests.helpers.waiting import patience, wait_until


def descendants(pid: int) -> list[int]:
    """Children, their children and so on; none of a process that has ended."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [d for child in map(int, children) for d in (child, *descendants(child))]


class Process:
    """A process in a group of its own; stdout and stderr go into one file."""

    def __init__(self, command: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self.log = log
        self._file = log.open("wb")
        self._process = subprocess.Popen(
            list(command),
            stdout=self._file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def wait_for_output(self, text: str, timeout: float = 20.0) -> str:
        """Wait until ``text`` was printed; fails at once if the process ended without."""

        def printed() -> bool:
            if text not in self.output and self.exit_code is not None and text not in self.output:
                raise AssertionError(f"ended with {self.exit_code} before {text!r}:\n{self.output}")
            return text in self.output

        wait_until(printed, timeout, f"{text!r} in {self.log.name}:\n{self.output}")
        return self.output

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def wait(self, timeout: float = 20.0) -> int:
        """The exit code; AssertionError if it does not end by itself in time."""
        try:
            return self._process.wait(patience(timeout))
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"still running after {timeout} s:\n{self.output}") from error

    def stop(self, number: int = signal.SIGINT, timeout: float = 20.0) -> int:
        """Send a signal and return the exit code."""
        self.send_signal(number)
        return self.wait(timeout)

    def end(self) -> None:
        """Leave nothing behind: politely, then by force, children in groups of their own included."""
        for number in (signal.SIGINT, signal.SIGKILL):
            others = [] if number == signal.SIGINT else descendants(self.pid)
            if not self._group_lives():
                break
            os.killpg(self.pid, number)
            for pid in others:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            deadline = time.monotonic() + patience(3.0)
            while self._group_lives() and time.monotonic() < deadline:
                time.sleep(0.02)
        self._process.wait(3.0)
        self._file.close()

    def _group_lives(self) -> bool:
        self._process.poll()
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


class Processes:
    """Starts processes and remembers them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Process] = []

    def start(self, *command: str, **environment: str) -> Process:
        name = f"{len(self._started)}_{Path(command[0]).name}.log"
        process = Process(command, self._folder / name, environment)
        self._started.append(process)
        return process

    def run(self, package: str, executable: str, *ros_arguments: str, **environment: str) -> Process:
        """As ``ros2 run package executable --ros-args ros_arguments``, without the process in between."""
        path = Path(get_package_prefix(package)) / "lib" / package / executable
        return self.start(str(path), "--ros-args", *ros_arguments, **environment)

    def launch(self, package: str, file: str, *arguments: str, **environment: str) -> Process:
        """``ros2 launch package file arguments``."""
        return self.start("ros2", "launch", package, file, *arguments, **environment)

    def end_all(self) -> None:
        for process in reversed(self._started):
            process.end()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    processes = Processes(tmp_path)
    try:
        yield processes
    finally:
        processes.end_all()
