"""Prediction error on unseen systems while training: the number to watch.

On the *no-inference floor* the one-step error is what a model reaches that ignores its context; below it,
the context is in use.
"""

from __future__ import annotations

import numpy as np
import torch

from explore_context.plants import Plant, random_rollouts
from explore_context_training.data import independent_transitions
from explore_context_training.networks import ContextModel

HORIZONS = (1, 3, 10, 20, 50)
# Seeds of unseen systems start far from those of training and of the final evaluation.
_VALIDATION_SEED = 7_000_001


class Validation:
    """Fixed unseen systems with ``transitions`` independent context transitions each and one random
    rollout.
    """

    def __init__(self, plant: Plant, transitions: int, device: torch.device, systems: int = 256) -> None:
        rng = np.random.default_rng(_VALIDATION_SEED)
        contexts = plant.sample_context(rng, systems)
        given = independent_transitions(plant, contexts, transitions, rng)
        rollouts = random_rollouts(plant, contexts, max(HORIZONS), rng)
        self._given = [torch.from_numpy(a).to(device) for a in (given.state, given.action, given.following)]
        self._states = torch.from_numpy(rollouts.observations.astype(np.float32)).to(device)
        self._actions = torch.from_numpy(rollouts.actions.astype(np.float32)).to(device)

    @torch.no_grad()
    def errors(self, model: ContextModel) -> dict[str, float]:
        """Mean squared error of raw states at some horizons, with and without context, and mean belief
        entropy.
        """
        pooled = model.embed(*self._given).amax(1)
        mean, std = model.belief(pooled)
        squared = (model.predict(self._states[:, 0], self._actions, mean) - self._states[:, 1:]) ** 2
        result = {f"mse_{h}": squared[:, h - 1].mean().item() for h in HORIZONS}
        unknown, _ = model.belief(torch.zeros_like(pooled))
        blind = model.predict(self._states[:, 0], self._actions[:, :1], unknown)
        result["mse_1_without_context"] = ((blind[:, 0] - self._states[:, 1]) ** 2).mean().item()
        result["entropy"] = (std.log() + 0.5 * np.log(2 * np.pi * np.e)).sum(-1).mean().item()
        return result
