"""The plants as Gymnasium environments."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from explore_context import gym_envs
from explore_context.plants import get_plant, plant_names


@pytest.mark.parametrize("name", sorted(gym_envs.ENVIRONMENTS))
@pytest.mark.filterwarnings("ignore:.*infinity.*")
@pytest.mark.filterwarnings("ignore:.*recommend.*")
def test_passes_the_checker(name: str) -> None:
    check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", sorted(gym_envs.ENVIRONMENTS))
def test_episode_is_truncated_after_the_papers_rollout(name: str) -> None:
    environment = gymnasium.make(name)
    environment.reset(seed=1)
    environment.action_space.seed(2)
    for k in range(1, 101):
        _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
        assert not terminated and truncated == (k == 100)


def test_is_the_plant_itself() -> None:
    environment = gymnasium.make("explore_context/Pendulum-v0")
    options = {"context": [1.5, -0.5, 0.7, -2.0], "state": [0.3, -1.0]}
    _, info = environment.reset(seed=0, options=options)
    np.testing.assert_array_equal(info["context"], options["context"])
    observation, reward, *_ = environment.step(np.array([1.0]))
    plant = get_plant("pendulum")
    state, action = np.array([options["state"]]), np.array([[1.0]])
    context = np.array([options["context"]])
    following = plant.step(state, action, context, np.random.default_rng(0))
    np.testing.assert_array_equal(observation, plant.observe(following)[0])
    assert reward == plant.reward(state, action, context)[0]


def test_same_seed_same_system_and_start() -> None:
    environment = gymnasium.make("explore_context/MountainCar-v0", initial_state_mode="training")
    (first, info), (second, again) = environment.reset(seed=4), environment.reset(seed=4)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(info["context"], again["context"])
    assert not np.array_equal(environment.reset()[1]["context"], info["context"])


@pytest.mark.parametrize(
    "line",
    [
        'import explore_context.gym_envs; gymnasium.make("explore_context/Pendulum-v0")',
        'gymnasium.make("explore_context.gym_envs:explore_context/Pendulum-v0")',
    ],
)
def test_is_known_in_a_fresh_interpreter(line: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import gymnasium; {line}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_plant_has_an_environment() -> None:
    assert set(gym_envs.ENVIRONMENTS.values()) == set(plant_names())


def test_registering_twice_does_no_harm() -> None:
    gym_envs.register()
    gym_envs.register()
    assert set(gym_envs.ENVIRONMENTS) <= set(gymnasium.registry)


def test_unknown_option_is_named() -> None:
    with pytest.raises(ValueError, match="colour"):
        gymnasium.make("explore_context/ToyInner-v0").reset(options={"colour": 1})
