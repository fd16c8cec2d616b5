"""What the belief's entropy says: over toy actions, over quadrants of the pendulum, and about the error to
expect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explore_context.model import gaussian_entropy
from explore_context.plants import get_plant, random_rollouts
from explore_context.plants.pendulum import MAX_SPEED, Pendulum, quadrant, simulation_step
from explore_context_evaluation.models import ModelReference, load_model
from explore_context_evaluation.prediction import make_test_system, prediction_errors
from explore_context_evaluation.units.base import Record, Unit

Array = NDArray[np.float64]

QUADRANT_TRANSITIONS = 15
QUADRANT_TORQUE = 1.0
_ACTIONS, _QUADRANTS, _TRANSITIONS = 301, 302, 303


@dataclass(frozen=True)
class EntropyOverActions(Unit):
    """Toy, figure 2: entropy after one imagined transition from x = 0, for each of ``points`` actions,
    averaged over samples of the empty belief.

    Record: ``action`` (P,), ``entropy`` (P,), ``prior`` ().
    """

    model: ModelReference
    points: int
    samples: int
    seed: int

    @property
    def cost(self) -> float:
        return 0.5

    def run(self, inputs: list[Record]) -> Record:
        plant, model = get_plant(self.model.plant), load_model(self.model)
        rng = np.random.default_rng([self.seed, _ACTIONS])
        action = np.linspace(plant.spec.action_low[0], plant.spec.action_high[0], self.points)
        beta = np.tile(model.prior.sample(rng, self.samples), (self.points, 1))
        u = np.repeat(action, self.samples)[:, None]
        x = np.zeros((len(u), plant.spec.observation_dim))
        mean, variance = model.predict_one(x, u, beta)
        following = mean + np.sqrt(variance) * rng.standard_normal(
            mean.shape
        )  # q(T | x, u): with the noise that the model knows
        embedding = np.maximum(model.embed(x, u, following), model.prior.embedding)
        std = model.session("belief").run(None, {"pooled": embedding})[1]
        entropy = gaussian_entropy(std).reshape(self.points, self.samples).mean(axis=1)
        return {"action": action, "entropy": entropy, "prior": np.array(model.prior.entropy)}


@dataclass(frozen=True)
class QuadrantEntropy(Unit):
    """Pendulum, figure 6: entropy while 15 transitions of quadrant 1, then of 2, 3 and 4 are added. Record:
    ``entropy`` (61,).
    """

    model: ModelReference
    system: int
    seed: int

    @property
    def cost(self) -> float:
        return 0.1

    def run(self, inputs: list[Record]) -> Record:
        plant, model = Pendulum(), load_model(self.model)
        context = make_test_system(plant, self.system, 1, self.seed).context
        rng = np.random.default_rng([self.seed, _QUADRANTS, self.system])
        belief, entropy = model.prior, [model.prior.entropy]
        for index in range(4):
            state, action, following = transitions_in_quadrant(
                plant, context, index, QUADRANT_TRANSITIONS, rng
            )
            x, following = plant.observe(state), plant.observe(following)
            for k in range(QUADRANT_TRANSITIONS):
                belief = model.update(belief, x[k : k + 1], action[k : k + 1], following[k : k + 1])
                entropy.append(belief.entropy)
        return {"entropy": np.array(entropy)}


def transitions_in_quadrant(
    plant: Pendulum, context: Array, index: int, number: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Simulation states, actions in [-1, 1] and next states, (number, .), that show the factor of quadrant
    ``index`` (0..3) and of no other.

    A transition is two simulation steps: it is kept if the angle is in the quadrant at the beginning of both
    and at the end.
    """
    many = 40 * number
    low = (index - 2) * np.pi / 2
    state = rng.uniform([low, -MAX_SPEED], [low + np.pi / 2, MAX_SPEED], (many, 2))
    action = rng.uniform(-QUADRANT_TORQUE, QUADRANT_TORQUE, (many, 1))
    middle, _ = simulation_step(state[:, 0], state[:, 1], action[:, 0] * context[0, index])
    following = plant.step(state, action, np.repeat(context, many, axis=0), rng)
    inside = (
        (quadrant(state[:, 0]) == index) & (quadrant(middle) == index) & (quadrant(following[:, 0]) == index)
    )
    kept = np.flatnonzero(inside)[:number]
    assert len(kept) == number, "the sample is large enough for every factor in the plant's range"
    return state[kept], action[kept], following[kept]


@dataclass(frozen=True)
class EntropyAndError(Unit):
    """Beliefs of very different quality on one unseen system: ``budgets`` random transitions from random
    initial states.

    Record: ``entropy`` (K,), ``errors`` (K, 50), mean over the test rollouts; K = the number of budgets.
    """

    model: ModelReference
    system: int
    budgets: tuple[int, ...]
    test_rollouts: int
    seed: int

    @property
    def cost(self) -> float:
        return 0.2 * len(self.budgets)

    def run(self, inputs: list[Record]) -> Record:
        plant, model = get_plant(self.model.plant), load_model(self.model)
        system = make_test_system(plant, self.system, self.test_rollouts, self.seed)
        entropy, errors = [], []
        for budget in self.budgets:
            rng = np.random.default_rng([self.seed, _TRANSITIONS, self.system, budget])
            data = random_rollouts(plant, system.context, budget, rng)
            belief = model.belief(data.observations[0, :-1], data.actions[0], data.observations[0, 1:])
            entropy.append(belief.entropy)
            errors.append(prediction_errors(model, system, belief).mean(axis=0))
        return {"entropy": np.array(entropy), "errors": np.array(errors)}
