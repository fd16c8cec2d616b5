"""The plants as Gymnasium environments::

    import explore_context.gym_envs  # tells Gymnasium, which has no plugins since version 1

    environment = gymnasium.make("explore_context/Pendulum-v0")

| id                                   | observation        | action                      | reward      |
|--------------------------------------|--------------------|-----------------------------|-------------|
| explore_context/Pendulum-v0          | cos, sin, velocity | torque, [-2, 2] N m         | Pendulum-v1 |
| explore_context/MountainCar-v0       | position, velocity | acceleration, [-3, 3] m/s^2 | 0           |
| explore_context/ToyInner-v0          | x1, x2             | u, [-2, 2]                  | 0           |
| explore_context/ToyOuter-v0          | x1, x2             | u, [-2, 2]                  | 0           |
| explore_context/ToyInnerNoiseFree-v0 | x1, x2             | u, [-2, 2]                  | 0           |
| explore_context/ToyOuterNoiseFree-v0 | x1, x2             | u, [-2, 2]                  | 0           |

Every reset draws a new system of the family, unless the option ``context`` names one. An episode is 100
transitions, as the paper's training rollouts are; no state is terminal. Without the import,
``gymnasium.make("explore_context.gym_envs:explore_context/Pendulum-v0")`` does both.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from explore_context.plants import get_plant

Array = NDArray[np.float64]

ENVIRONMENTS = {
    "explore_context/Pendulum-v0": "pendulum",
    "explore_context/MountainCar-v0": "mountain_car",
    "explore_context/ToyInner-v0": "toy_inner",
    "explore_context/ToyOuter-v0": "toy_outer",
    "explore_context/ToyInnerNoiseFree-v0": "toy_inner_noise_free",
    "explore_context/ToyOuterNoiseFree-v0": "toy_outer_noise_free",
}
EPISODE_TRANSITIONS = 100


class PlantEnv(gymnasium.Env[Array, Array]):
    """One system of a plant's family. ``info["context"]`` holds its hidden parameters, (C,)."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, plant: str = "pendulum", initial_state_mode: str = "calibration") -> None:
        self.plant = get_plant(plant)
        self.initial_state_mode = initial_state_mode
        spec = self.plant.spec
        self.observation_space = gymnasium.spaces.Box(
            np.array(spec.observation_low), np.array(spec.observation_high), dtype=np.float64
        )
        self.action_space = gymnasium.spaces.Box(
            np.array(spec.action_low), np.array(spec.action_high), dtype=np.float64
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Options: ``context`` (C,), ``state`` (S,), ``initial_state_mode``; what is missing is drawn."""
        super().reset(seed=seed)
        options = options or {}
        unknown = options.keys() - {"context", "state", "initial_state_mode"}
        if unknown:
            raise ValueError(f"unknown reset options {sorted(unknown)}")
        context, state = options.get("context"), options.get("state")
        mode = options.get("initial_state_mode", self.initial_state_mode)
        self._context = (
            self.plant.sample_context(self.np_random, 1)
            if context is None
            else self.plant.check_context(np.asarray(context, dtype=np.float64)[None])
        )
        self._state = (
            self.plant.initial_state(mode, self.np_random, 1)
            if state is None
            else np.asarray(state, dtype=np.float64)[None]
        )
        return self._observation(), self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        batch = np.asarray(action, dtype=np.float64)[None]
        reward = 0.0
        if self.plant.has_reward:
            reward = float(self.plant.reward(self._state, batch, self._context)[0])
        self._state = self.plant.step(self._state, batch, self._context, self.np_random)
        return self._observation(), reward, False, False, self._info()

    def _observation(self) -> Array:
        return self.plant.observe(self._state)[0]

    def _info(self) -> dict[str, Any]:
        return {"context": self._context[0].copy(), "state": self._state[0].copy()}


def register() -> None:
    """Tell Gymnasium; doing so twice does no harm."""
    for name, plant in ENVIRONMENTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="explore_context.gym_envs:PlantEnv",
                max_episode_steps=EPISODE_TRANSITIONS,
                kwargs={"plant": plant},
            )


register()
