"""torchrl's CEM planner on our objective: an environment that rewards only the finished sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Bounded, Composite, Unbounded
from torchrl.envs import EnvBase
from torchrl.modules import CEMPlanner

from explore_context.planning import Objective

Floats = NDArray[np.float32]
_ITERATIONS = 3
_ELITES = 10


class SequenceEnvironment(EnvBase):  # type: ignore[misc,unused-ignore]
    """The state is the sequence so far (H, U) and its length; the last step scores it. Actions in [-1, 1]."""

    def __init__(self, objective: Objective, horizon: int, low: Floats, high: Floats) -> None:
        super().__init__(batch_size=[], device="cpu")
        self._objective, self._horizon = objective, horizon
        self._centre, self._reach = (low + high) / 2, (high - low) / 2
        self.population: Floats = np.empty(0, np.float32)
        self.scores: Floats = np.empty(0, np.float32)
        width = len(low)
        self.action_spec = Bounded(-1.0, 1.0, (width,))
        self.observation_spec = Composite(sequence=Unbounded((horizon, width)), length=Unbounded((1,)))
        self.state_spec = self.observation_spec.clone()
        self.reward_spec = Unbounded((1,))

    batch_locked = False

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        return TensorDict(self.observation_spec.zero().to_dict(), [])

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        sequence, length = tensordict["sequence"].clone(), tensordict["length"]
        step = int(length.flatten()[0])
        sequence[..., step, :] = tensordict["action"]
        reward = torch.zeros(*tensordict.batch_size, 1)
        if step + 1 == self._horizon:
            self.population = self._centre + self._reach * sequence.numpy()
            self.scores = np.asarray(self._objective(self.population.astype(np.float32)))
            reward = torch.from_numpy(self.scores).reshape(reward.shape)
        done = torch.zeros(*tensordict.batch_size, 1, dtype=torch.bool)
        return TensorDict(
            {"sequence": sequence, "length": length + 1, "reward": reward, "done": done, "terminated": done},
            tensordict.batch_size,
        )

    def _set_seed(self, seed: int | None) -> None:
        torch.manual_seed(seed or 0)


def torchrl_cem(
    objective: Objective, horizon: int, low: Floats, high: Floats, evaluations: int, seed: int
) -> Floats:
    """Mean of the last elites, (H, U), which is what the planner executes."""
    torch.manual_seed(seed)
    environment = SequenceEnvironment(objective, horizon, low, high)
    candidates = evaluations // _ITERATIONS
    number = min(_ELITES, candidates // 2)
    planner = CEMPlanner(environment, horizon, _ITERATIONS, candidates, number)
    with torch.no_grad():
        planner(environment.reset())
    elites = environment.population[np.argsort(-environment.scores)[:number]]
    return np.clip(elites.mean(axis=0), low, high).astype(np.float32)
