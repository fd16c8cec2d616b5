"""Noise and sample sets that say more per sample than independent draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explore_context.planning.plan import Floats


def smooth_noise(
    rng: np.random.Generator, count: int, horizon: int, actions: int, smoothness: float
) -> Floats:
    """Unit-variance Gaussian noise (count, H, U), first-order autoregressive along H.

    Independent noise shakes an actuator and cancels out; slow noise moves the system, which is where the
    information is.
    """
    noise = rng.standard_normal((count, horizon, actions), dtype=np.float32)
    innovation = np.float32(np.sqrt(1.0 - smoothness**2))
    for step in range(1, horizon):
        noise[:, step] = smoothness * noise[:, step - 1] + innovation * noise[:, step]
    return noise


def primitives(low: NDArray[np.floating], high: NDArray[np.floating], horizon: int) -> Floats:
    """Candidates that need no luck, (P, H, U): zero, constant extremes, and bang-bang and sine waves of
    several periods, all dimensions alike.
    """
    steps = np.arange(horizon)
    shapes = [np.zeros(horizon), np.ones(horizon), -np.ones(horizon)]
    for period in (4, 6, 8, 12, 16, 24):
        wave = np.sin(2.0 * np.pi * (steps + 0.5) / period)
        shapes += [np.sign(wave), -np.sign(wave), wave, -wave]
    centre, reach = (low + high) / 2, (high - low) / 2
    waves = np.stack(shapes)[:, :, None]
    return (centre + reach * waves).astype(np.float32)


def with_stretch(
    rng: np.random.Generator,
    sequences: Floats,
    low: NDArray[np.floating],
    high: NDArray[np.floating],
    longest: int,
) -> Floats:
    """Sequences (K, H, U) with one random stretch of 1 to ``longest`` steps set to bounds of the actions."""
    count, horizon, actions = sequences.shape
    begin = rng.integers(0, horizon, (count, 1, 1))
    end = begin + rng.integers(1, longest + 1, (count, 1, 1))
    steps = np.arange(horizon)[None, :, None]
    bound = np.where(rng.random((count, 1, actions)) < 0.5, low, high)
    return np.where((steps >= begin) & (steps < end), bound, sequences).astype(np.float32)


def antithetic_orthogonal(rng: np.random.Generator, n: int, dimensions: int) -> Floats:
    """Standard normal samples (n, D) in pairs +-v of mutually orthogonal directions: each is exactly normal,
    together they are well spread.
    """
    half = (n + 1) // 2
    blocks = []
    for first in range(0, half, dimensions):
        directions, triangle = np.linalg.qr(rng.standard_normal((dimensions, dimensions)))
        directions *= np.sign(np.diag(triangle))  # uniform over all rotations only with these signs
        lengths = np.sqrt(rng.chisquare(dimensions, dimensions))
        blocks.append((directions * lengths).T[: half - first])
    points = np.concatenate(blocks)
    return np.concatenate([points, -points])[:n].astype(np.float32)
