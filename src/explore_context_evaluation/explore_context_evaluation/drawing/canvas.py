"""SVG elements in the report's colours. Colours are CSS variables, so that one figure serves light and dark
pages.
"""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import ArrayLike

# name: (light, dark)
PALETTE = {
    "ink": ("#1c2430", "#e6e9ee"),
    "muted": ("#5b6675", "#98a2b1"),
    "grid": ("#dde2e9", "#2e3642"),
    "paper": ("#ffffff", "#161b22"),
    "soft": ("#f4f6f9", "#1d242d"),
    "blue": ("#2468b4", "#6cacf0"),
    "orange": ("#c96a11", "#f0a04b"),
    "green": ("#1f8a4c", "#4fc57f"),
    "red": ("#bf3535", "#f07d7d"),
    "violet": ("#7a4fb5", "#b592ea"),
    "grey": ("#7a8594", "#8b95a4"),
    "gold": ("#a5820b", "#e0c04c"),
}


def palette_css(selector: str = ":root") -> str:
    """The palette as CSS variables, with the dark values where the reader prefers them."""
    light, dark = (";".join(f"--{name}:{pair[k]}" for name, pair in PALETTE.items()) for k in (0, 1))
    return f"{selector}{{{light}}}@media (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"


def standalone(svg: str) -> str:
    """An SVG that carries its own colours, e.g. for a README."""
    head, rest = svg.split(">", 1)
    ground = "<rect width='100%' height='100%' fill='var(--paper)'/>"
    return f"{head}><style>{palette_css('svg')}</style>{ground}{rest}"


class Canvas:
    """Collects elements; coordinates in pixels from the upper left corner."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        colour: str = "grid",
        width: float = 1.0,
        dash: str = "",
    ) -> None:
        d = f"M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}"
        self._parts.append(f"<path d='{d}' {_stroke(colour, width, dash)}/>")

    def polyline(
        self,
        x: ArrayLike,
        y: ArrayLike,
        colour: str,
        width: float = 1.8,
        dash: str = "",
        opacity: float = 1.0,
    ) -> None:
        points = "L".join(f"{_n(a)} {_n(b)}" for a, b in zip(np.ravel(x), np.ravel(y), strict=True))
        fade = f" opacity='{opacity:g}'" if opacity < 1 else ""
        self._parts.append(
            f"<path d='M{points}' {_stroke(colour, width, dash)} stroke-linejoin='round'{fade}/>"
        )

    def area(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str, opacity: float = 0.14) -> None:
        """Filled between two curves."""
        xs, there, back = np.ravel(x), np.ravel(low), np.ravel(high)[::-1]
        points = [f"{_n(a)} {_n(b)}" for a, b in zip([*xs, *xs[::-1]], [*there, *back], strict=True)]
        self._parts.append(f"<path d='M{'L'.join(points)}Z' fill='var(--{colour})' opacity='{opacity:g}'/>")

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        opacity: float = 1.0,
        stroke: str = "",
    ) -> None:
        border = f" stroke='var(--{stroke})'" if stroke else ""
        fade = f" fill-opacity='{opacity:g}'" if opacity < 1 else ""
        self._parts.append(
            f"<rect x='{_n(x)}' y='{_n(y)}' width='{_n(width)}' height='{_n(height)}' "
            f"fill='var(--{fill})'{fade}{border}/>"
        )

    def dots(
        self, x: ArrayLike, y: ArrayLike, colour: str, radius: float = 2.2, opacity: float = 0.8
    ) -> None:
        """One path for all: a dot is a line of no length with round caps."""
        d = "".join(f"M{_n(a)} {_n(b)}h0" for a, b in zip(np.ravel(x), np.ravel(y), strict=True))
        self._parts.append(
            f"<path d='{d}' stroke='var(--{colour})' stroke-width='{2 * radius:g}' stroke-linecap='round' "
            f"opacity='{opacity:g}'/>"
        )

    def circle(self, x: float, y: float, radius: float, colour: str = "grid") -> None:
        self._parts.append(f"<circle cx='{_n(x)}' cy='{_n(y)}' r='{_n(radius)}' {_stroke(colour, 1, '')}/>")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        anchor: str = "start",
        colour: str = "muted",
        size: float = 12,
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        extra = " font-weight='600'" if bold else ""
        if turned:
            extra += f" transform='rotate(-90 {_n(x)} {_n(y)})'"
        self._parts.append(
            f"<text x='{_n(x)}' y='{_n(y)}' text-anchor='{anchor}' fill='var(--{colour})' "
            f"font-size='{size:g}'{extra}>{escape(text)}</text>"
        )

    def clipped(self, name: str, x: float, y: float, width: float, height: float, part: Canvas) -> None:
        """Add the elements of ``part``, cut off at a rectangle; ``name`` must be unique in the page."""
        box = f"<rect x='{_n(x)}' y='{_n(y)}' width='{_n(width)}' height='{_n(height)}'/>"
        self._parts.append(
            f"<clipPath id='{name}'>{box}</clipPath><g clip-path='url(#{name})'>{''.join(part._parts)}</g>"
        )

    def svg(self) -> str:
        size = f"{self.width:g} {self.height:g}"
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {size}' width='{self.width:g}' "
            f"height='{self.height:g}' role='img' "
            f"aria-label='{escape(self.title, quote=True)}' font-family='system-ui,sans-serif' "
            f"fill='none'>{''.join(self._parts)}</svg>"
        )


def _stroke(colour: str, width: float, dash: str) -> str:
    dashed = f" stroke-dasharray='{dash}'" if dash else ""
    return f"stroke='var(--{colour})' stroke-width='{width:g}'{dashed}"


def _n(value: float) -> str:
    """A tenth of a pixel is fine enough, and short."""
    return f"{float(value):.1f}".removesuffix(".0")
