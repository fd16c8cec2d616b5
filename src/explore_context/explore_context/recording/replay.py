"""Shows a recording in the dashboard: the same messages in their own time, at any speed, without a graph."""

from __future__ import annotations

import bisect
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from explore_context.dashboard.commands import Command, Playback
from explore_context.dashboard.hub import Hub
from explore_context.recording.reader import (
    BELIEF,
    DIAGNOSTICS,
    FEEDBACK,
    INFO,
    STATE,
    TRANSITION_EVENT,
    RecordedMessage,
    Recording,
)
from explore_context.recording.writer import RecordingError

_KINDS = {INFO: "info", STATE: "state", BELIEF: "belief", FEEDBACK: "feedback"}
_FEEDBACK_SUFFIX = "/calibrator/calibrate/feedback"
_TICK = 0.02
_MOST_UNREAD = 10_000


@dataclass(frozen=True)
class _Event:
    """Seconds from the start of the recording, and what to tell the hub then."""

    time: float
    post: Callable[[], None]


class Replay:
    """Is the hub's clock and the page's controller. ``start`` plays in a thread of its own."""

    def __init__(self, path: Path | str, speed: float = 1.0, playing: bool = True) -> None:
        self.hub = Hub(
            {"kind": "replay", "control": False, "recording": str(path)}, clock=lambda: self._position
        )
        self._speed, self._playing = speed, playing
        self._position, self._next = 0.0, 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)
        self._load(path)
        self._rewind()

    def _load(self, path: Path | str) -> None:
        with Recording(path) as recording:
            first, self.duration = recording.start, recording.duration * 1e-9
            items = list(recording.messages([*_KINDS, DIAGNOSTICS, TRANSITION_EVENT]))
        self._robots = sorted({_namespace(item) for item in items if item.type_name in (INFO, BELIEF, STATE)})
        if not self._robots:
            raise RecordingError(f"{path}: holds no plant_info, state or context_belief to show")
        self._events = [_Event((item.time - first) * 1e-9, self._action(item)) for item in items]

    def _action(self, item: RecordedMessage) -> Callable[[], None]:
        message, hub = item.message, self.hub
        if item.type_name == DIAGNOSTICS:
            return lambda: hub.post_diagnostics(message)
        if item.type_name == TRANSITION_EVENT:
            node = item.topic.rpartition("/")[0]
            return lambda: hub.post_lifecycle(node, str(message.goal_state.label))
        robot, kind = _namespace(item), _KINDS[item.type_name]
        return lambda: hub.post(robot, kind, message)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def submit(self, command: Command) -> None:
        """From the page: play, pause, another speed, another position."""
        if not isinstance(command, Playback):
            return
        with self._lock:
            if command.speed is not None:
                self._speed = command.speed
            if command.position is not None:
                self._seek(min(command.position, self.duration))
            if command.playing is not None:
                if command.playing and command.position is None and self._position >= self.duration:
                    self._seek(0.0)  # Play at the end means once more
                self._playing = command.playing
            self._tell()

    def advance(self, seconds: float) -> None:
        """Let so much real time pass."""
        with self._lock:
            if self._playing:
                self._position = min(self._position + seconds * self._speed, self.duration)
                self._playing = self._position < self.duration
            self._catch_up()
            self._tell()

    def _run(self) -> None:
        before = time.monotonic()
        while not self._ended.wait(_TICK):
            now = time.monotonic()
            self.advance(now - before)
            before = now

    def _seek(self, position: float) -> None:
        if position < self._position:
            self._rewind()
        self._position = position

    def _rewind(self) -> None:
        self._position, self._next = 0.0, 0
        self.hub.post_clear()
        for robot in self._robots:
            self.hub.post(robot, "online", True)

    def _catch_up(self) -> None:
        """Tell everything up to the present position, though never faster than the hub takes it in."""
        end = bisect.bisect_right(self._events, self._position, key=lambda event: event.time)
        end = min(end, self._next + max(0, _MOST_UNREAD - self.hub.unread))
        for event in self._events[self._next : end]:
            event.post()
        self._next = max(self._next, end)

    def _tell(self) -> None:
        self.hub.post_mode(
            playing=self._playing,
            speed=self._speed,
            position=round(self._position, 1),
            duration=round(self.duration, 1),
        )


def _namespace(item: RecordedMessage) -> str:
    if item.type_name == FEEDBACK:
        return item.topic.removesuffix(_FEEDBACK_SUFFIX) or "/"
    return item.topic.rpartition("/")[0] or "/"
