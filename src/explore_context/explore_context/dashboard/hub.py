"""Where messages become what the page shows. Any thread posts, the server's thread applies and reads."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from explore_context.dashboard.robot_view import RobotView

# Far more than arrives between two ticks; a bound all the same, should the server's thread ever stand still.
_MOST_WAITING = 50_000


class Hub:
    """All robots. ``clock``: seconds, for silence and fault times; a replay has a clock of its own.

    ``refused`` counts messages that make no sense, e.g. states of the wrong size or, in a recording of
    another version, without a field: they do not stop the page.
    """

    def __init__(self, mode: dict[str, Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._mode = mode
        self._mode_changed = False
        self._robots: dict[str, RobotView] = {}
        self._removed = False
        self.refused = 0
        self._waiting: deque[Callable[[], None]] = deque(maxlen=_MOST_WAITING)

    # -- any thread ---------------------------------------------------------------------------------------

    def post(self, robot: str, kind: str, message: Any) -> None:
        """A message of one robot; ``kind`` is the part after ``on_`` of a RobotView's method."""
        self._waiting.append(lambda: getattr(self._robot(robot), f"on_{kind}")(message))

    def post_diagnostics(self, array: Any) -> None:
        """A DiagnosticArray; a status is named ``<fully qualified node>: <what>``."""
        now = self.clock()
        self._waiting.append(lambda: self._apply_diagnostics(array, now))

    def post_lifecycle(self, node: str, state: str) -> None:
        """The life-cycle state of a fully qualified node."""
        now = self.clock()
        self._waiting.append(lambda: self._with_node(node, "on_lifecycle", state, now))

    def post_mode(self, **changes: Any) -> None:
        self._waiting.append(lambda: self._change_mode(changes))

    def post_clear(self) -> None:
        """Forget every robot, e.g. because a replay jumps back."""
        self._waiting.append(self._clear)

    @property
    def unread(self) -> int:
        return len(self._waiting)

    # -- the server's thread ------------------------------------------------------------------------------

    def apply(self) -> None:
        """Take in everything that was posted."""
        while self._waiting:
            event = self._waiting.popleft()
            try:
                event()
            except Exception:  # whatever a message lacks, the page goes on with the next one
                self.refused += 1
        now = self.clock()
        for robot in self._robots.values():
            robot.check(now)

    def snapshot(self) -> str:
        robots = {name: robot.snapshot() for name, robot in sorted(self._robots.items())}
        return to_json({"type": "snapshot", "mode": self._mode, "robots": robots})

    def take_changes(self) -> str | None:
        """The message for every page that has the last state; None if nothing changed."""
        if self._removed:
            self._removed = False
            self._take_all()
            return self.snapshot()
        update: dict[str, Any] = {}
        robots = self._take_all()
        if robots:
            update["robots"] = robots
        if self._mode_changed:
            update["mode"] = self._mode
            self._mode_changed = False
        return to_json({"type": "update", **update}) if update else None

    def knows(self, robot: str) -> bool:
        return robot in self._robots

    def _take_all(self) -> dict[str, Any]:
        return {name: changes for name, robot in self._robots.items() if (changes := robot.take_changes())}

    def _robot(self, name: str) -> RobotView:
        if name not in self._robots:
            self._robots[name] = RobotView(name)
        return self._robots[name]

    def _apply_diagnostics(self, array: Any, now: float) -> None:
        for status in array.status:
            self._with_node(
                "/" + str(status.name).split(":")[0].strip().lstrip("/"), "on_diagnostics", status, now
            )

    def _with_node(self, node: str, method: str, value: Any, now: float) -> None:
        """Nodes of namespaces without a plant or a calibrator are no business of this page."""
        namespace, _, name = node.rpartition("/")
        view = self._robots.get(namespace or "/")
        if view is None:
            return
        if method == "on_diagnostics":
            view.on_diagnostics(value, name, now)
        else:
            view.on_lifecycle(name, value, now)

    def _change_mode(self, changes: dict[str, Any]) -> None:
        updated = {**self._mode, **changes}
        self._mode_changed |= updated != self._mode
        self._mode = updated

    def _clear(self) -> None:
        self._robots.clear()
        self._removed = True


def to_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
