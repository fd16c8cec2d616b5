"""Box plots with every value as a dot, and the paper's quartiles beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explore_context_evaluation.drawing.canvas import Canvas
from explore_context_evaluation.drawing.chart import BOTTOM, LEFT, RIGHT, TOP
from explore_context_evaluation.drawing.scale import Scale, linear_range


@dataclass(frozen=True)
class Box:
    """``values``: ours; ``paper``: q25, median, q75 or None."""

    label: str
    values: Sequence[float]
    colour: str
    paper: Mapping[str, float] | None = None


@dataclass(frozen=True)
class BoxPlot:
    title: str
    y_label: str
    boxes: Sequence[Box]
    zero: bool = False
    width: int = 620
    height: int = 340

    def svg(self) -> str:
        canvas = Canvas(self.width, self.height + 8, self.title)
        values = [np.asarray(box.values, np.float64) for box in self.boxes]
        values += [
            np.array([box.paper[k] for k in ("q25", "median", "q75")]) for box in self.boxes if box.paper
        ]
        low, high = linear_range(*values, include=0.0 if self.zero else None)
        scale = Scale(low, high, self.height - BOTTOM, TOP)
        canvas.text(14, 18, self.title, colour="ink", size=14, bold=True)
        for value, label in scale.ticks():
            at = float(scale(value))
            canvas.line(LEFT, at, self.width - RIGHT, at, "muted" if value == 0 and self.zero else "grid")
            canvas.text(LEFT - 7, at + 4, label, "end")
        canvas.text(14, (TOP + self.height - BOTTOM) / 2, self.y_label, "middle", turned=True)
        step = (self.width - LEFT - RIGHT) / len(self.boxes)
        for k, box in enumerate(self.boxes):
            self._draw(canvas, scale, box, LEFT + step * (k + 0.5), step)
        return canvas.svg()

    def _draw(self, canvas: Canvas, scale: Scale, box: Box, centre: float, step: float) -> None:
        half = min(26.0, step / 6)
        ours = centre - (half + 4 if box.paper else 0)
        values = np.asarray(box.values, np.float64)
        q25, median, q75 = (float(scale(q)) for q in np.quantile(values, [0.25, 0.5, 0.75]))
        canvas.rect(ours - half, q75, 2 * half, max(q25 - q75, 1), box.colour, 0.22, box.colour)
        canvas.line(ours - half, median, ours + half, median, box.colour, 2.5)
        # deterministic spread: the golden ratio keeps neighbours apart
        offsets = (np.arange(len(values)) * 0.618034) % 1 - 0.5
        canvas.dots(ours + 1.5 * half * offsets, scale(values), box.colour, 2, 0.75)
        if box.paper:
            self._paper_box(canvas, scale, box.paper, centre + half + 4, half)
        canvas.text(centre, self.height - BOTTOM + 18, box.label, "middle", "ink")
        canvas.text(centre, self.height - BOTTOM + 34, f"median {np.median(values):.1f}", "middle", size=11)
        if box.paper:
            note = f"paper's {box.paper['median']:.1f}"
            canvas.text(centre, self.height - BOTTOM + 48, note, "middle", size=11)

    def _paper_box(
        self, canvas: Canvas, scale: Scale, paper: Mapping[str, float], centre: float, half: float
    ) -> None:
        q25, median, q75 = (float(scale(paper[k])) for k in ("q25", "median", "q75"))
        for y in (q25, q75):
            canvas.line(centre - half, y, centre + half, y, "grey", 1.2, "4 3")
        for x in (centre - half, centre + half):
            canvas.line(x, q25, x, q75, "grey", 1.2, "4 3")
        canvas.line(centre - half, median, centre + half, median, "grey", 2.2)
