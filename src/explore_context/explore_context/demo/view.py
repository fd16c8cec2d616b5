"""The demonstration in a terminal: a moving picture on a tty, a line now and then elsewhere."""

from __future__ import annotations

import sys
from typing import TextIO

import numpy as np

from explore_context.demo.story import Story

_ROWS, _COLUMNS = 13, 27
_BARS = "▁▂▃▄▅▆▇█"
_SPARSE = 5  # steps between two lines where there is no terminal
_QUADRANTS = 4
_MAX_TORQUE = 2.0


class View:
    """Draws the story whenever it has changed."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._tty = self._stream.isatty()
        self._lines_up = 0
        self._printed: tuple[int, int] = (-1, -1)

    def draw(self, story: Story) -> None:
        if not story.moments:
            return
        if self._tty:
            self._picture(story)
        else:
            self._line(story)

    def close(self) -> None:
        if self._tty:
            self._write("\x1b[?25h")

    def _line(self, story: Story) -> None:
        moment = story.moments[-1]
        if moment.rollout < story.calibration_rollout or moment.step % _SPARSE:
            return
        if self._printed != (moment.rollout, moment.step):
            self._printed = moment.rollout, moment.step
            self._write(f"{status_line(story)}\n")

    def _picture(self, story: Story) -> None:
        canvas = pendulum_picture(story.moments[-1].angle)
        facts = fact_lines(story)
        rows = [f"  {row}   {text}" for row, text in zip(canvas, facts, strict=True)]
        back = f"\x1b[{self._lines_up}A" if self._lines_up else "\x1b[?25l"
        self._write(back + "".join(f"\r{row}\x1b[K\n" for row in rows))
        self._lines_up = len(rows)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def phase(story: Story) -> str:
    if story.total is not None:
        upright = abs(story.moments[-1].angle) < np.pi / 6
        return f"return {story.total:.1f}{', balancing' if upright else ''}"
    return "swinging up" if story.calibrated else "calibrating"


def status_line(story: Story) -> str:
    moment = story.moments[-1]
    text = f"{phase(story):<11} step {moment.step:3d}  angle {np.degrees(moment.angle):+7.1f} deg"
    text += f"  torque {moment.torque:+5.2f}"
    if story.knowledge:
        text += f"  entropy {story.knowledge[-1].entropy:7.2f} nat"
    return text


def pendulum_picture(angle: float) -> list[str]:
    """The pendulum as text; angle 0 is upright, positive to the left as in the plant's plane."""
    canvas = [[" "] * _COLUMNS for _ in range(_ROWS)]
    row, column = _ROWS // 2, _COLUMNS // 2
    length = _ROWS // 2
    canvas[row][0] = canvas[row][-1] = "·"
    canvas[0][column] = canvas[-1][column] = "·"
    for part in np.linspace(0.0, 1.0, 3 * length):
        r = round(row - part * length * np.cos(angle))
        # A character is about twice as high as it is wide.
        c = round(column - 2 * part * length * np.sin(angle))
        canvas[r][c] = "o"
    canvas[row][column] = "+"
    canvas[round(row - length * np.cos(angle))][round(column - 2 * length * np.sin(angle))] = "●"
    return ["".join(line) for line in canvas]


def fact_lines(story: Story) -> list[str]:
    """As many lines as the picture has rows."""
    moment = story.moments[-1]
    lines = ["", phase(story), f"step {moment.step}", torque_bar(moment.torque), ""]
    if story.knowledge:
        newest = story.knowledge[-1]
        entropies = [each.entropy for each in story.knowledge]
        lines += [
            f"entropy  {newest.entropy:7.2f} nat   {newest.transitions} transitions",
            f"gained   {entropies[0] - newest.entropy:7.2f} nat   expected {newest.expected_gain:.2f} nat",
            sparkline(entropies),
            "",
        ]
    covered = story.quadrants()
    lines.append("quadrants " + " ".join("█" if k in covered else "░" for k in range(_QUADRANTS)))
    return (lines + [""] * _ROWS)[:_ROWS]


def torque_bar(torque: float) -> str:
    half = 8
    size = round(min(abs(torque) / _MAX_TORQUE, 1.0) * half)
    left = " " * (half - size) + "█" * size if torque < 0 else " " * half
    right = "█" * size + " " * (half - size) if torque > 0 else " " * half
    return f"torque {torque:+5.2f}  [{left}|{right}]"


def sparkline(values: list[float], width: int = 44) -> str:
    """The values, newest last, as bars between their least and their greatest."""
    shown = np.asarray(values[-width:], dtype=float)
    span = max(values) - min(values)
    levels = np.round((shown - min(values)) / span * (len(_BARS) - 1)) if span > 0 else np.zeros(len(shown))
    return "".join(_BARS[int(level)] for level in levels)
