"""The toy system (section 4.2): a damped oscillator whose input passes a squashing that hides or shows alpha.

x+ = [[0.8, 0.2], [-0.2, 0.8]] x + [alpha, 0] delta(u) + eps,  eps ~ N(0, 0.01^2 I),
alpha in [-1, 1],  u in [-2, 2].
Only actions with delta(u) != 0 reveal alpha: |u| < 1 for the ``inner`` squashing, |u| > 1 for ``outer``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from explore_context.plants.base import Array, Plant, PlantSpec

TRANSITION_MATRIX = np.array([[0.8, 0.2], [-0.2, 0.8]])
NOISE_STD = 0.01
MAX_ACTION = 2.0

SQUASHINGS: dict[str, Callable[[Array], Array]] = {
    "inner": lambda u: np.maximum(1.0 - np.abs(u), 0.0),
    "outer": lambda u: np.maximum(np.abs(u) - 1.0, 0.0),
}


class Toy(Plant):
    """State and observation [x1, x2], context [alpha]; no units; a transition is 0.1 s on the graph."""

    def __init__(self, squashing: Literal["inner", "outer"], noise: bool = True) -> None:
        self.squash = SQUASHINGS[squashing]
        self.noise_std = NOISE_STD if noise else 0.0
        unbounded = (np.inf, np.inf)
        self.spec = PlantSpec(
            name=f"toy_{squashing}" + ("" if noise else "_noise_free"),
            state_names=("x1", "x2"),
            observation_names=("x1", "x2"),
            action_names=("u",),
            context_names=("alpha",),
            action_low=(-MAX_ACTION,),
            action_high=(MAX_ACTION,),
            observation_low=(-np.inf, -np.inf),
            observation_high=unbounded,
            dt=0.1,
        )

    def sample_context(self, rng: np.random.Generator, n: int) -> Array:
        return rng.uniform(-1.0, 1.0, (n, 1))

    def _initial_state(self, mode: str, rng: np.random.Generator, n: int) -> Array:
        return rng.standard_normal((n, 2)) if mode == "training" else np.zeros((n, 2))

    def _step(self, state: Array, action: Array, context: Array, rng: np.random.Generator) -> Array:
        following = state @ TRANSITION_MATRIX.T
        following[:, 0] += context[:, 0] * self.squash(action[:, 0])
        if self.noise_std:
            following += self.noise_std * rng.standard_normal(following.shape)
        return following

    def _observe(self, state: Array) -> Array:
        return state.copy()


def toy_inner() -> Toy:
    return Toy("inner")


def toy_outer() -> Toy:
    return Toy("outer")


def toy_inner_noise_free() -> Toy:
    return Toy("inner", noise=False)


def toy_outer_noise_free() -> Toy:
    return Toy("outer", noise=False)
