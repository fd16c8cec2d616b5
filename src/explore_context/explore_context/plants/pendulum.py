"""The pendulum whose motor acts differently in each quadrant (section 4.3 of the paper).

Dynamics are those of Gym's Pendulum (angle 0 is upright) except that the clipped torque is multiplied by a
signed factor that depends on the quadrant of the angle. Every action is held for two simulation steps and the
factor is looked up again at each.

| symbol   | meaning                                   | value         |
|----------|-------------------------------------------|---------------|
| g        | gravity                                   | 10 m/s^2      |
| m, l     | mass, length                              | 1 kg, 1 m     |
| -        | simulation step, two of them a transition | 0.05 s        |
| u        | torque                                    | [-2, 2] N m   |
| theta'   | angular velocity                          | [-8, 8] rad/s |
| alpha_i  | factor of quadrant i, signed              | +-[0.5, 2]    |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explore_context.plants.base import Array, Plant, PlantSpec

GRAVITY = 10.0
MASS = 1.0
LENGTH = 1.0
SIMULATION_STEP = 0.05
STEPS_PER_TRANSITION = 2
MAX_SPEED = 8.0
MAX_TORQUE = 2.0


def wrap_angle(angle: Array) -> Array:
    """Wrap to [-pi, pi)."""
    return angle - (2.0 * np.pi) * np.floor(angle * (0.5 / np.pi) + 0.5)


def quadrant(angle: Array) -> NDArray[np.int64]:
    """Quadrant 0..3 of an angle; the wrapped angle is split at -pi/2, 0 and pi/2."""
    return (np.floor(angle * (2.0 / np.pi)).astype(np.int64) + 2) & 3


def simulation_step(angle: Array, speed: Array, torque: Array) -> tuple[Array, Array]:
    """One semi-implicit Euler step of 0.05 s; the angle moves with the not yet clipped speed. All (n,)."""
    acceleration = (3.0 * GRAVITY / (2.0 * LENGTH)) * np.sin(angle) + (3.0 / (MASS * LENGTH**2)) * torque
    speed = speed + SIMULATION_STEP * acceleration
    angle = angle + SIMULATION_STEP * speed
    return angle, np.clip(speed, -MAX_SPEED, MAX_SPEED)


class Pendulum(Plant):
    """State [theta, theta'], observation [cos theta, sin theta, theta'], context: 4 signed factors."""

    spec = PlantSpec(
        name="pendulum",
        state_names=("angle", "angular_velocity"),
        observation_names=("cos_angle", "sin_angle", "angular_velocity"),
        action_names=("torque",),
        context_names=("factor_1", "factor_2", "factor_3", "factor_4"),
        action_low=(-MAX_TORQUE,),
        action_high=(MAX_TORQUE,),
        observation_low=(-1.0, -1.0, -MAX_SPEED),
        observation_high=(1.0, 1.0, MAX_SPEED),
        dt=SIMULATION_STEP * STEPS_PER_TRANSITION,
    )
    has_reward = True

    def sample_context(self, rng: np.random.Generator, n: int) -> Array:
        return rng.choice([-1.0, 1.0], (n, 4)) * rng.uniform(0.5, 2.0, (n, 4))

    def _initial_state(self, mode: str, rng: np.random.Generator, n: int) -> Array:
        if mode == "training":
            return rng.uniform([-np.pi, -MAX_SPEED], [np.pi, MAX_SPEED], (n, 2))
        return rng.uniform([np.pi - 0.05, -0.05], [np.pi + 0.05, 0.05], (n, 2))

    def _step(self, state: Array, action: Array, context: Array, rng: np.random.Generator) -> Array:
        angle, speed = state[:, 0], state[:, 1]
        for _ in range(STEPS_PER_TRANSITION):
            angle, speed = simulation_step(angle, speed, _factored(action, angle, context))
        return np.stack([angle, speed], axis=1)

    def _observe(self, state: Array) -> Array:
        return np.stack([np.cos(state[:, 0]), np.sin(state[:, 0]), state[:, 1]], axis=1)

    def _reward(self, state: Array, action: Array, context: Array) -> Array:
        """Sum over the two simulation steps of -(theta^2 + 0.1 theta'^2 + 0.001 u^2), u after the factor."""
        angle, speed = state[:, 0], state[:, 1]
        reward = np.zeros(len(state))
        for _ in range(STEPS_PER_TRANSITION):
            torque = _factored(action, angle, context)
            reward -= wrap_angle(angle) ** 2 + 0.1 * speed**2 + 0.001 * torque**2
            angle, speed = simulation_step(angle, speed, torque)
        return reward


def _factored(action: Array, angle: Array, context: Array) -> Array:
    rows = np.arange(0, context.size, context.shape[1])
    return action[:, 0] * np.take(context, rows + quadrant(angle))
