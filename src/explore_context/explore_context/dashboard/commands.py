"""What a person may ask for from the page. Everything that arrives is checked here, at the door."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Protocol

SCHEMES = ("", "random", "open_loop", "mpc")
PLANNERS = ("", "paper", "realtime")
_MOST = 100_000


class CommandError(ValueError):
    """A request that is not carried out; the text is shown on the page."""


@dataclass(frozen=True)
class Calibrate:
    """Start a calibration; empty texts, 0 and -1 leave the choice to the calibrator."""

    robot: str
    scheme: str = ""
    planner: str = ""
    transitions: int = 0
    rollouts: int = 0
    seed: int = -1


@dataclass(frozen=True)
class Cancel:
    robot: str


@dataclass(frozen=True)
class NewSystem:
    robot: str
    seed: int = -1


@dataclass(frozen=True)
class Playback:
    """Replay only: what is None stays as it is; ``position`` in seconds from the start."""

    playing: bool | None = None
    speed: float | None = None
    position: float | None = None


Command = Calibrate | Cancel | NewSystem | Playback


class Controller(Protocol):
    """Carries out commands; called from the server's thread, must not block."""

    def submit(self, command: Command) -> None: ...


def parse_command(text: str) -> Command:
    """The command in a WebSocket message; raises CommandError."""
    try:
        data = json.loads(text)
    except ValueError:
        raise CommandError("not JSON") from None
    if not isinstance(data, dict):
        raise CommandError("not a command")
    kind = data.get("command")
    if kind == "calibrate":
        return Calibrate(
            _robot(data),
            _choice(data, "scheme", SCHEMES),
            _choice(data, "planner", PLANNERS),
            _integer(data, "transitions", 0, 0, _MOST),
            _integer(data, "rollouts", 0, 0, _MOST),
            _integer(data, "seed", -1, -1, 2**53),
        )
    if kind == "cancel":
        return Cancel(_robot(data))
    if kind == "new_system":
        return NewSystem(_robot(data), _integer(data, "seed", -1, -1, 2**53))
    if kind == "playback":
        return _playback(data)
    raise CommandError(f"unknown command {kind!r}")


def _playback(data: dict[str, Any]) -> Playback:
    playing = data.get("playing")
    if playing is not None and not isinstance(playing, bool):
        raise CommandError("playing must be true or false")
    return Playback(playing, _real(data, "speed", 0.01, 1000.0), _real(data, "position", 0.0, 1e9))


def _robot(data: dict[str, Any]) -> str:
    robot = data.get("robot")
    if not isinstance(robot, str) or not robot.startswith("/"):
        raise CommandError("robot must be a namespace such as /robot1")
    return robot


def _choice(data: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
    value = data.get(name, "")
    if value not in choices:
        raise CommandError(f"{name} must be one of {', '.join(choices[1:])}")
    return str(value)


def _integer(data: dict[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = data.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise CommandError(f"{name} must be a whole number from {low} to {high}")
    return value


def _real(data: dict[str, Any], name: str, low: float, high: float) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CommandError(f"{name} must be a number")
    if not low <= value <= high:
        raise CommandError(f"{name} must lie between {low:g} and {high:g}")
    return float(value)
