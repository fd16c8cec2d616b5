"""Calibration rollouts: the pendulum's angle around a clock, the car on its terrain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from explore_context_evaluation.drawing.canvas import Canvas
from explore_context_evaluation.drawing.scale import Scale

SMOOTH = 4
TIME_COLOURS = ("violet", "blue", "green", "gold", "orange")


def clock(title: str, rollouts: Sequence[ArrayLike], colour: str, size: int = 300) -> str:
    """Angles over time from the centre (start) to the rim (end); upright is up, hanging is down."""
    canvas = Canvas(size, size + 26, title)
    centre, radius = size / 2, size / 2 - 30
    middle = centre + 26
    canvas.text(centre, 18, title, "middle", "ink", 14, bold=True)
    for share in (1 / 3, 2 / 3, 1):
        canvas.circle(centre, middle, radius * share)
    canvas.line(centre - radius, middle, centre + radius, middle, "muted")
    canvas.line(centre, middle - radius, centre, middle + radius, "muted")
    for angle in rollouts:
        turned = np.unwrap(np.asarray(angle, np.float64))
        # between two samples the pole moves on an arc, not on a chord
        time = np.linspace(0, 1, SMOOTH * (len(turned) - 1) + 1)
        theta = np.interp(time, np.linspace(0, 1, len(turned)), turned)
        r = radius * time
        canvas.polyline(centre - r * np.sin(theta), middle - r * np.cos(theta), colour, 1.7, opacity=0.75)
    canvas.text(centre, middle - radius - 6, "upright", "middle", size=11)
    canvas.text(centre, middle + radius + 14, "hanging: start", "middle", size=11)
    return canvas.svg()


def terrains(
    title: str, x: ArrayLike, heights: Sequence[ArrayLike], width: int = 520, height: int = 280
) -> str:
    """Sampled profiles over each other."""
    canvas = Canvas(width, height, title)
    canvas.text(14, 18, title, colour="ink", size=14, bold=True)
    across = Scale(-1, 1, 14, width - 14)
    top = max(float(np.max(np.asarray(h))) for h in heights)
    up = Scale(0, top, height - 26, 34)
    for k, profile in enumerate(heights):
        canvas.polyline(across(x), up(profile), TIME_COLOURS[k % len(TIME_COLOURS)], 1.6, opacity=0.8)
    for value, label in across.ticks():
        canvas.text(float(across(value)), height - 8, label, "middle", size=11)
    return canvas.svg()


def car_rollouts(
    title: str,
    x: ArrayLike,
    heights: Sequence[ArrayLike],
    rollouts: Mapping[str, Sequence[ArrayLike]],
    width: int = 900,
) -> str:
    """One row for each scheme, one column for each terrain; the car's path is drawn above the ground, later
    points higher and in another colour.
    """
    panel_height, columns = 150, len(heights)
    step = (width - 90) / columns
    canvas = Canvas(width, 30 + panel_height * len(rollouts), title)
    canvas.text(14, 18, title, colour="ink", size=14, bold=True)
    top = max(float(np.max(np.asarray(h))) for h in heights)
    for row, (scheme, positions) in enumerate(rollouts.items()):
        base = 30 + panel_height * (row + 1) - 10
        canvas.text(14, base - 55, scheme, colour="ink", bold=True)
        for column, path in enumerate(positions):
            left = 90 + column * step
            across = Scale(-1, 1, left, left + step - 16)
            up = Scale(0, top, base, base - 45)
            canvas.polyline(across(x), up(heights[column]), "muted", 1.6)
            _path(
                canvas, across, up, np.asarray(path, np.float64), np.asarray(x), np.asarray(heights[column])
            )
    return canvas.svg()


def _path(
    canvas: Canvas, across: Scale, up: Scale, path: np.ndarray, x: np.ndarray, ground: np.ndarray
) -> None:
    lift = np.linspace(4, 80, len(path))
    y = up(np.interp(path, x, ground)) - lift
    pieces = np.array_split(np.arange(len(path)), len(TIME_COLOURS))
    for k, piece in enumerate(pieces):
        joined = np.append(piece, piece[-1] + 1) if piece[-1] + 1 < len(path) else piece
        canvas.polyline(across(path[joined]), y[joined], TIME_COLOURS[k], 2.0)
