"""Physics against hand-computed numbers, Gymnasium's pendulum and a slow literal mountain car."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest

from explore_context.plants import get_plant
from explore_context.plants.mountain_car import FRICTION, MAX_BUMPS, terrain
from explore_context.plants.pendulum import quadrant, simulation_step, wrap_angle

RNG = np.random.default_rng


def one(plant: str, state, action, context, rng=None) -> np.ndarray:
    """One transition of one system."""
    x, u, alpha = (np.array([each], dtype=float) for each in (state, action, context))
    return get_plant(plant).step(x, u, alpha, rng or RNG(0))[0]


# --- toy ---


@pytest.mark.parametrize(
    ("plant", "action", "squashed"),
    [
        ("toy_inner_noise_free", 0.0, 1.0),
        ("toy_inner_noise_free", -0.4, 0.6),
        ("toy_inner_noise_free", 1.5, 0.0),
        ("toy_outer_noise_free", 0.0, 0.0),
        ("toy_outer_noise_free", -1.5, 0.5),
        ("toy_outer_noise_free", 7.0, 1.0),  # clipped to 2
    ],
)
def test_toy_transition_by_hand(plant: str, action: float, squashed: float) -> None:
    # 0.8 * 1 + 0.2 * 2 = 1.2 and -0.2 * 1 + 0.8 * 2 = 1.4; alpha = -0.5 acts on the first entry only.
    np.testing.assert_allclose(one(plant, [1, 2], [action], [-0.5]), [1.2 - 0.5 * squashed, 1.4], atol=1e-15)


def test_toy_noise_has_the_papers_size() -> None:
    n = 40_000
    zeros = np.zeros((n, 2))
    following = get_plant("toy_outer").step(zeros, np.zeros((n, 1)), np.ones((n, 1)), RNG(1))
    assert np.abs(following.mean(axis=0)).max() < 3e-4
    np.testing.assert_allclose(following.std(axis=0), 0.01, rtol=0.02)


def test_toy_starts() -> None:
    plant = get_plant("toy_inner")
    np.testing.assert_array_equal(plant.initial_state("calibration", RNG(0), 3), np.zeros((3, 2)))
    training = plant.initial_state("training", RNG(0), 20_000)
    np.testing.assert_allclose(training.std(axis=0), 1.0, rtol=0.03)
    context = plant.sample_context(RNG(0), 1000)
    assert -1 <= context.min() < -0.9 and 0.9 < context.max() <= 1


# --- pendulum ---


def test_pendulum_single_simulation_steps_equal_gymnasium() -> None:
    environment = gymnasium.make("Pendulum-v1").unwrapped
    environment.reset(seed=0)
    rng = RNG(2)
    for _ in range(500):
        angle, speed = rng.uniform([-2 * np.pi, -8], [2 * np.pi, 8])
        torque = rng.uniform(-2, 2)
        environment.state = np.array([angle, speed])
        reward = environment.step(np.array([torque]))[1]
        mine = simulation_step(np.array([angle]), np.array([speed]), np.array([torque]))
        # Gymnasium clips the speed before it moves the angle; the paper's experiments clipped it afterwards.
        if abs(speed + 0.05 * (15 * math.sin(angle) + 3 * torque)) < 8:
            np.testing.assert_allclose(np.ravel(mine), environment.state, rtol=0, atol=1e-9)
        wrapped = wrap_angle(np.array([angle]))[0]
        assert reward == pytest.approx(-(wrapped**2 + 0.1 * speed**2 + 0.001 * torque**2), abs=1e-9)


def test_pendulum_transition_is_two_gymnasium_steps_when_all_factors_are_one() -> None:
    environment = gymnasium.make("Pendulum-v1").unwrapped
    environment.reset(seed=0)
    environment.state = np.array([np.pi - 0.3, 0.7])
    rewards = [environment.step(np.array([1.25]))[1] for _ in range(2)]
    state, action, context = np.array([[np.pi - 0.3, 0.7]]), np.array([[1.25]]), np.ones((1, 4))
    plant = get_plant("pendulum")
    np.testing.assert_allclose(plant.step(state, action, context, RNG(0))[0], environment.state, atol=1e-9)
    assert plant.reward(state, action, context)[0] == pytest.approx(sum(rewards), abs=1e-9)


def test_pendulum_transition_by_hand() -> None:
    # First step, quadrant 3 (0 .. pi/2), factor -2: torque -2, acceleration 15 sin(0.02) - 6.
    speed = 0.05 * (15 * math.sin(0.02) - 6)
    angle = 0.02 + 0.05 * speed
    assert angle > 0
    # Still quadrant 3 at the second step.
    speed += 0.05 * (15 * math.sin(angle) - 6)
    np.testing.assert_allclose(
        one("pendulum", [0.02, 0], [1], [1, 1, -2, 1]), [angle + 0.05 * speed, speed], atol=1e-15
    )


def test_pendulum_factor_is_looked_up_again_at_the_second_simulation_step() -> None:
    # From quadrant 3 over 0 into quadrant 2 within the first step.
    speed = -1 + 0.05 * (15 * math.sin(0.01) + 3 * 0.5 * 2)
    angle = 0.01 + 0.05 * speed
    assert angle < 0
    speed += 0.05 * (15 * math.sin(angle) + 3 * -1.5 * 2)
    expected = [angle + 0.05 * speed, speed]
    np.testing.assert_allclose(one("pendulum", [0.01, -1], [2], [1, -1.5, 0.5, 1]), expected, atol=1e-15)


def test_pendulum_speed_is_clipped_after_the_angle_moved() -> None:
    angle, speed = simulation_step(np.array([np.pi / 2]), np.array([7.9]), np.array([2.0]))
    unclipped = 7.9 + 0.05 * (15 + 6)
    np.testing.assert_allclose([angle[0], speed[0]], [np.pi / 2 + 0.05 * unclipped, 8.0])


def test_pendulum_action_is_clipped_before_the_factor() -> None:
    strong, limit = (one("pendulum", [1, 0], [u], [2, 2, 2, 2]) for u in (5.0, 2.0))
    np.testing.assert_array_equal(strong, limit)
    assert one("pendulum", [1, 0], [2], [2] * 4)[1] > one("pendulum", [1, 0], [2], [1] * 4)[1]


def test_quadrants_split_the_wrapped_angle() -> None:
    angles = np.array(
        [-np.pi + 0.1, -0.1, 0.1, np.pi - 0.1, 2 * np.pi - 0.1, 4 * np.pi + 0.1, -7 * np.pi + 0.1]
    )
    np.testing.assert_array_equal(quadrant(angles), [0, 1, 2, 3, 1, 2, 0])
    np.testing.assert_allclose(wrap_angle(np.array([3 * np.pi - 0.1, -np.pi])), [np.pi - 0.1, -np.pi])


def test_pendulum_reward_uses_the_factored_action() -> None:
    plant = get_plant("pendulum")
    state, action = np.zeros((1, 2)), np.array([[1.0]])
    # Second step starts at angle 0.05 * 0.05 * 3 f and speed 0.05 * 3 f; both lie in quadrant 3.
    for factor in (0.5, 2.0):
        speed, torque = 0.15 * factor, factor
        expected = -(0.001 * torque**2) - ((0.05 * speed) ** 2 + 0.1 * speed**2 + 0.001 * torque**2)
        assert plant.reward(state, action, np.full((1, 4), factor))[0] == pytest.approx(expected, abs=1e-15)


def test_pendulum_starts_and_contexts() -> None:
    plant = get_plant("pendulum")
    start = plant.initial_state("calibration", RNG(3), 500)
    assert np.abs(start - [np.pi, 0]).max() <= 0.05
    factors = np.abs(plant.sample_context(RNG(4), 1000))
    assert factors.min() >= 0.5 and factors.max() <= 2.0
    assert (plant.sample_context(RNG(4), 1000) < 0).mean() == pytest.approx(0.5, abs=0.05)


# --- mountain car ---


def slow_car(x: float, v: float, u: float, bumps: list[tuple[float, float, float]]) -> tuple[float, float]:
    """The facts page word for word, one number at a time."""

    def gradient(at: float) -> float:
        return sum(-h * (at - m) / w**2 * math.exp(-((at - m) ** 2) / (2 * w**2)) for h, m, w in bumps)

    def move(slope: float) -> tuple[float, float]:
        angle = math.atan(slope)
        tangential = -10 * math.sin(angle) + u
        friction = min(abs(10 * math.cos(angle) * 0.001), abs(tangential))
        if v > 0:
            tangential -= friction
        elif v < 0:
            tangential += friction
        speed = v + 0.05 * tangential * math.cos(angle)
        return x + 0.05 * speed, speed

    predicted, _ = move(gradient(x))
    position, speed = move((gradient(x) + gradient(predicted)) / 2)
    return (math.copysign(1, position), 0.0) if abs(position) >= 1 else (position, speed)


def test_mountain_car_equals_the_slow_one() -> None:
    plant = get_plant("mountain_car")
    rng = RNG(5)
    n = 300
    state, context = plant.initial_state("training", rng, n), plant.sample_context(rng, n)
    action = plant.sample_actions(rng, (n,))
    following = plant.step(state, action, context, rng)
    for k in range(n):
        h, m, w = context[k].reshape(3, MAX_BUMPS)
        bumps = [(0.5, -1.0, 0.3), (0.5, 1.0, 0.3), *zip(h, m, w, strict=True)]
        expected = np.array(slow_car(state[k, 0], state[k, 1], action[k, 0], bumps))
        np.testing.assert_allclose(following[k], expected, rtol=0, atol=1e-12)


def flat() -> np.ndarray:
    """Terrain with the two bumps at the walls only."""
    return np.concatenate([np.zeros(MAX_BUMPS), np.zeros(MAX_BUMPS), np.ones(MAX_BUMPS)])


def test_mountain_car_stops_at_the_walls() -> None:
    for side in (-1.0, 1.0):
        np.testing.assert_array_equal(one("mountain_car", [side * 0.99, side * 2], [0], flat()), [side, 0])
    assert one("mountain_car", [1.0, 0.0], [-3], flat())[0] < 1.0


def test_mountain_car_friction_opposes_motion_and_never_starts_it() -> None:
    # Level ground at 0. The same push with opposite directions of motion: friction mu g either way.
    forward, backward = (one("mountain_car", [0, v], [1.0], flat())[1] for v in (1e-9, -1e-9))
    assert backward - forward == pytest.approx(2 * 0.05 * 10 * FRICTION, rel=1e-2)
    np.testing.assert_array_equal(one("mountain_car", [0, 0], [0], flat()), [0, 0])
    # Friction is capped by the tangential acceleration itself, so a weaker push nets to nothing.
    push = 0.5 * 10 * FRICTION
    assert one("mountain_car", [0, 1e-9], [push], flat())[1] == pytest.approx(1e-9, abs=1e-10)


def test_terrain_gradient_is_the_derivative_of_its_height() -> None:
    plant = get_plant("mountain_car")
    context = plant.sample_context(RNG(6), 50)
    x = RNG(7).uniform(-1, 1, (50, 20))
    numeric = (terrain(x + 1e-6, context)[0] - terrain(x - 1e-6, context)[0]) / 2e-6
    np.testing.assert_allclose(terrain(x, context)[1], numeric, atol=1e-7)


def test_mountain_car_contexts() -> None:
    plant = get_plant("mountain_car")
    heights, locations, widths = np.split(plant.sample_context(RNG(8), 2000), 3, axis=1)
    present = heights > 0
    assert set(present.sum(axis=1)) == set(range(2, 8))
    assert heights[present].min() >= 0.1 and heights.max() <= 0.3
    assert np.abs(locations).max() <= 1.5 and widths.min() >= 0.1 and widths.max() <= 0.5
    with pytest.raises(ValueError, match="width"):
        one("mountain_car", [0, 0], [0], np.zeros(3 * MAX_BUMPS))
