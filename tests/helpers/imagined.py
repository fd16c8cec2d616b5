"""Imagined rollouts written down with a model's plain graphs, for tests of its planner graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explore_context.model import ContextModel

Floats = NDArray[np.float32]


def imagined_states(model: ContextModel, state: Floats, actions: Floats, beta: Floats) -> Floats:
    """State (X,), actions (H, U), beta (B,) -> states (H + 1, X): one transition after the other, but for the
    GRU, which carries its latent state along.
    """
    if model.manifest.variant == "gru":
        return np.concatenate([state[None], model.predict(state[None], actions[None], beta)[0][0]])
    states = [state[None]]
    for action in actions:
        states.append(model.predict_one(states[-1], action[None], beta)[0])
    return np.concatenate(states)
