"""The belief q(beta | C): a diagonal Gaussian over the latent context, and the embedding that it came
from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_HALF_LOG_2_PI_E = 0.5 * np.log(2.0 * np.pi * np.e)


def gaussian_entropy(std: NDArray[np.floating]) -> NDArray[np.float64]:
    """Entropy in nats of diagonal Gaussians, std (..., B) -> (...)."""
    return (np.log(std.astype(np.float64)) + _HALF_LOG_2_PI_E).sum(-1)


@dataclass(frozen=True)
class Belief:
    """mean (B,), std (B,); ``embedding`` (F,) is the max-pooled embedding of all transitions seen, the
    whole memory of a calibration.
    """

    mean: Floats
    std: Floats
    embedding: Floats
    transitions: int = 0

    @property
    def entropy(self) -> float:
        """H[q(beta | C)] in nats."""
        return float(gaussian_entropy(self.std))

    def sample(self, rng: np.random.Generator, n: int) -> Floats:
        """beta ~ q(beta | C), (n, B)."""
        return self.mean + self.std * rng.standard_normal((n, len(self.mean)), dtype=np.float32)
