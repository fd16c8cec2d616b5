"""Line charts: axes, grid, curves with bands, a legend."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from explore_context_evaluation.drawing.canvas import Canvas
from explore_context_evaluation.drawing.scale import Scale, linear_range, log_range

LEFT, RIGHT, TOP, BOTTOM = 66, 14, 34, 44
LEGEND_LINE = 17


@dataclass(frozen=True)
class Series:
    """One curve; ``band``: (low, high) filled around it; ``dashed`` for the paper's; ``dots`` instead of a
    line.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    colour: str
    dashed: bool = False
    band: tuple[ArrayLike, ArrayLike] | None = None
    dots: bool = False
    width: float = 2.0


@dataclass(frozen=True)
class Chart:
    """A frame with series. ``marks``: labelled horizontal lines (value, label, colour); ``shaded``: x ranges
    with a grey ground.
    """

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_y: bool = False
    log_x: bool = False
    width: int = 520
    height: int = 340
    y_range: tuple[float, float] | None = None
    x_range: tuple[float, float] | None = None
    marks: Sequence[tuple[float, str, str]] = field(default_factory=tuple)
    shaded: Sequence[tuple[float, float]] = field(default_factory=tuple)

    def svg(self) -> str:
        rows = self._legend_rows()
        canvas = Canvas(self.width, self.height + LEGEND_LINE * len(rows) + 4, self.title)
        x, y = self._scales()
        canvas.text(14, 18, self.title, colour="ink", size=14, bold=True)
        self._frame(canvas, x, y)
        content = Canvas(self.width, self.height, "")
        for low, high in self.shaded:
            left, right = float(x(low)), float(x(high))
            content.rect(left, TOP, right - left, y.start - TOP, "grid", 0.45)
        self._draw(content, x, y)
        name = "c" + hashlib.sha256(f"{self.title}{self.y_label}{len(self.series)}".encode()).hexdigest()[:8]
        canvas.clipped(name, LEFT, TOP, self.width - LEFT - RIGHT, self.height - TOP - BOTTOM, content)
        self._legend(canvas, rows)
        return canvas.svg()

    def _scales(self) -> tuple[Scale, Scale]:
        ys = [np.ravel(np.asarray(s.y, np.float64)) for s in self.series] + [
            np.array([m[0] for m in self.marks])
        ]
        xs = [np.ravel(np.asarray(s.x, np.float64)) for s in self.series]
        if self.y_range:
            low, high = self.y_range
        else:
            low, high = log_range(*ys) if self.log_y else linear_range(*ys)
        if self.x_range:
            left, right = self.x_range
        elif self.log_x:
            left, right = log_range(*xs)
        else:
            left, right = float(min(a.min() for a in xs)), float(max(a.max() for a in xs))
            if any(s.dots for s in self.series):
                left, right = linear_range([left, right])
        return (
            Scale(left, right, LEFT, self.width - RIGHT, self.log_x),
            Scale(low, high, self.height - BOTTOM, TOP, self.log_y),
        )

    def _frame(self, canvas: Canvas, x: Scale, y: Scale) -> None:
        for value, label in y.ticks():
            at = float(y(value))
            canvas.line(LEFT, at, self.width - RIGHT, at)
            canvas.text(LEFT - 7, at + 4, label, "end")
        for value, label in x.ticks():
            at = float(x(value))
            canvas.line(at, self.height - BOTTOM, at, self.height - BOTTOM + 4, "muted")
            canvas.text(at, self.height - BOTTOM + 18, label, "middle")
        canvas.line(LEFT, self.height - BOTTOM, self.width - RIGHT, self.height - BOTTOM, "muted")
        canvas.text((LEFT + self.width - RIGHT) / 2, self.height - 8, self.x_label, "middle")
        canvas.text(14, (TOP + self.height - BOTTOM) / 2, self.y_label, "middle", turned=True)

    def _draw(self, content: Canvas, x: Scale, y: Scale) -> None:
        for s in self.series:
            if s.band is not None:
                content.area(x(s.x), y(s.band[0]), y(s.band[1]), s.colour)
        for s in self.series:
            if s.dots:
                content.dots(x(s.x), y(s.y), s.colour)
            else:
                content.polyline(
                    x(s.x), y(s.y), s.colour, 1.4 if s.dashed else s.width, "5 4" if s.dashed else ""
                )
        for value, label, colour in self.marks:
            at = float(y(value))
            content.line(LEFT, at, self.width - RIGHT, at, colour, 1.2, "2 3")
            content.text(self.width - RIGHT - 4, at - 5, label, "end", colour, 11)

    def _legend_rows(self) -> list[list[Series]]:
        """Labelled series in lines that fit the width (about 6.9 pixels a character)."""
        rows: list[list[Series]] = []
        room = 0.0
        for s in (s for s in self.series if s.label):
            need = 6.9 * len(s.label) + 42
            if not rows or need > room:
                rows.append([])
                room = self.width - LEFT
            rows[-1].append(s)
            room -= need
        return rows

    def _legend(self, canvas: Canvas, rows: list[list[Series]]) -> None:
        for k, row in enumerate(rows):
            at, left = self.height + LEGEND_LINE * k + 11, float(LEFT)
            for s in row:
                if s.dots:
                    canvas.dots([left + 11], [at - 4], s.colour, 3)
                else:
                    canvas.line(
                        left,
                        at - 4,
                        left + 22,
                        at - 4,
                        s.colour,
                        1.4 if s.dashed else 2.4,
                        "5 4" if s.dashed else "",
                    )
                canvas.text(left + 28, at, s.label)
                left += 6.9 * len(s.label) + 42
