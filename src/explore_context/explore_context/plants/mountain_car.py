"""The car on an unknown terrain (section 4.4 and the supplement's section on the MountainCar environment).

The profile is a sum of Gaussian bumps, two fixed ones at the walls and two to seven random ones. The car is
a block that slides on a plane whose slope is the average of the profile's gradient here and at the predicted
next point (Heun-like).

| symbol | meaning                              | value            |
|--------|--------------------------------------|------------------|
| x      | horizontal position, walls at +-1    | [-1, 1] m        |
| v      | horizontal velocity                  | m/s              |
| u      | tangential acceleration of the motor | [-3, 3] m/s^2    |
| g, mu  | gravity, friction coefficient        | 10 m/s^2, 0.001  |
| h_n    | bump height (0: bump not there)      | 0 or [0.1, 0.3]  |
| l_n    | bump location                        | [-1.5, 1.5]      |
| w_n    | bump width                           | [0.1, 0.5]       |
"""

from __future__ import annotations

import numpy as np

from explore_context.plants.base import Array, Plant, PlantSpec

GRAVITY = 10.0
FRICTION = 0.001
DT = 0.05
MAX_ACCELERATION = 3.0
WALL = 1.0
MAX_BUMPS = 7
WALL_BUMP_HEIGHT = 0.5
WALL_BUMP_WIDTH = 0.3


def terrain(position: Array, context: Array) -> tuple[Array, Array]:
    """Height and gradient; position (n,) or (n, K), context (n, 21): heights, locations, widths."""
    x = position if position.ndim == 2 else position[:, None]
    height = np.zeros_like(x)
    gradient = np.zeros_like(x)
    bumps: list[tuple[float | Array, ...]] = [
        (WALL_BUMP_HEIGHT, side, WALL_BUMP_WIDTH) for side in (-WALL, WALL)
    ]
    for k in range(MAX_BUMPS):
        bumps.append(tuple(context[:, k + offset, None] for offset in (0, MAX_BUMPS, 2 * MAX_BUMPS)))
    for h, location, width in bumps:
        scaled = (x - location) / width
        bump = h * np.exp(-0.5 * scaled**2)
        height += bump
        gradient -= bump * scaled / width
    return height.reshape(position.shape), gradient.reshape(position.shape)


class MountainCar(Plant):
    """State and observation [position, velocity], horizontal; context: 7 heights, 7 locations, 7 widths."""

    spec = PlantSpec(
        name="mountain_car",
        state_names=("position", "velocity"),
        observation_names=("position", "velocity"),
        action_names=("acceleration",),
        context_names=tuple(
            f"{what}_{k + 1}" for what in ("height", "location", "width") for k in range(MAX_BUMPS)
        ),
        action_low=(-MAX_ACCELERATION,),
        action_high=(MAX_ACCELERATION,),
        observation_low=(-WALL, -np.inf),
        observation_high=(WALL, np.inf),
        dt=DT,
    )

    def sample_context(self, rng: np.random.Generator, n: int) -> Array:
        number = rng.integers(2, MAX_BUMPS + 1, (n, 1))
        heights = rng.uniform(0.1, 0.3, (n, MAX_BUMPS)) * (np.arange(MAX_BUMPS) < number)
        locations = rng.uniform(-1.5, 1.5, (n, MAX_BUMPS))
        widths = rng.uniform(0.1, 0.5, (n, MAX_BUMPS))
        return np.concatenate([heights, locations, widths], axis=1)

    def check_context(self, context: Array) -> Array:
        context = super().check_context(context)
        if (context[:, 2 * MAX_BUMPS :] <= 0).any():
            raise ValueError("mountain_car context: every width (entries 15 to 21) must be positive")
        return context

    def _initial_state(self, mode: str, rng: np.random.Generator, n: int) -> Array:
        return rng.uniform([-0.8, -2.0], [0.8, 2.0], (n, 2)) if mode == "training" else np.zeros((n, 2))

    def _step(self, state: Array, action: Array, context: Array, rng: np.random.Generator) -> Array:
        position, velocity = state[:, 0], state[:, 1]
        _, here = terrain(position, context)
        predicted, _ = _slide(position, velocity, action[:, 0], here)
        _, there = terrain(predicted, context)
        position, velocity = _slide(position, velocity, action[:, 0], 0.5 * (here + there))
        at_wall = np.abs(position) >= WALL
        return np.stack([np.clip(position, -WALL, WALL), np.where(at_wall, 0.0, velocity)], axis=1)

    def _observe(self, state: Array) -> Array:
        return state.copy()


def _slide(position: Array, velocity: Array, motor: Array, slope: Array) -> tuple[Array, Array]:
    """Move a block for one step on a plane of the given slope; all (n,)."""
    cos = 1.0 / np.sqrt(1.0 + slope**2)
    sin = slope * cos
    tangential = motor - GRAVITY * sin
    friction = np.minimum(GRAVITY * cos * FRICTION, np.abs(tangential))
    velocity = velocity + DT * cos * (tangential - np.sign(velocity) * friction)
    return position + DT * velocity, velocity
