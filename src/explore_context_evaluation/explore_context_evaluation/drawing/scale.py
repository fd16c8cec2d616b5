"""From data to pixels, and where the ticks stand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [start, end] pixels; outside values are clipped a little beyond the frame."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, values: ArrayLike) -> NDArray[np.float64]:
        data, low, high = np.asarray(values, np.float64), self.low, self.high
        if self.log:
            data, low, high = np.log10(np.maximum(data, 1e-300)), math.log10(low), math.log10(high)
        share = (data - low) / (high - low)
        return self.start + np.clip(share, -0.5, 1.5) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Values and labels: powers of ten on a log scale, round steps on a linear one."""
        if self.log:
            powers = range(
                math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1
            )
            return [(10.0**p, _power(p)) for p in powers]
        step = _round_step((self.high - self.low) / 5)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:.10g}") for k in range(first, last + 1)]


def log_range(*arrays: ArrayLike) -> tuple[float, float]:
    """A range for a log axis that holds all positive values, ending between decades at 1, 2 or 5."""
    values = np.concatenate([np.ravel(np.asarray(a, np.float64)) for a in arrays])
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        return 0.1, 1.0
    return _round_down(values.min()), _round_up(values.max())


def linear_range(*arrays: ArrayLike, include: float | None = None) -> tuple[float, float]:
    values = np.concatenate([np.ravel(np.asarray(a, np.float64)) for a in arrays])
    values = values[np.isfinite(values)]
    if include is not None:
        values = np.append(values, include)
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 1.0
    return low - (0 if low == include else margin), high + (0 if high == include else margin)


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)


def _round_down(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return max(m * power for m in (1, 2, 5) if m * power <= value * 1.001)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return min(m * power for m in (1, 2, 5, 10) if m * power >= value * 0.999)


def _power(p: int) -> str:
    if -3 <= p <= 3:
        return f"{10.0**p:g}"
    return "10" + str(p).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
