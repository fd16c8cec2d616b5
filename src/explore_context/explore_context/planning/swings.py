"""Candidates that gather momentum: the model's own answer to how far the system can be driven.

What a system hides is often out of reach of any single push: a weak motor gets a pendulum into its upper
quadrants, or a car over a hill, only by swinging. Such sequences are a needle in the haystack of all
sequences, but easy to imagine step by step: always push along the present motion. Which bound pushes along it
depends on the context, so that every context sample has its own swing.
"""

from __future__ import annotations

import itertools

import numpy as np

from explore_context.model import ContextModel
from explore_context.planning.plan import Floats

_MOST_CORNERS = 16


def velocity_columns(model: ContextModel) -> list[int]:
    """States whose names end in ``velocity``: what a swing accelerates."""
    return [k for k, name in enumerate(model.manifest.state_names) if name.endswith("velocity")]


def swings(model: ContextModel, state: Floats, beta: Floats, horizon: int) -> Floats:
    """One sequence of corner actions per context: state (1, X), beta (S, B) -> (S, H, U).

    At each imagined step the corner with the largest v . v+ is chosen (v: the velocities, in units of the
    model's normalisation). At rest, where no direction is along the motion, the first corner goes. None,
    (0, H, U), for a system without velocities or with too many corners to try.
    """
    columns, corners = velocity_columns(model), corner_actions(model)
    if not columns or not len(corners):
        return np.empty((0, horizon, model.action_dim), np.float32)
    weight = np.zeros(model.state_dim, np.float32)
    weight[columns] = np.asarray(model.manifest.normalisation["state_scale"], np.float32)[columns] ** -2
    contexts, tries = len(beta), len(corners)
    rows = np.arange(contexts)
    # The session itself: at a tenth of a millisecond per call, checking arguments is a fifth of the time.
    step_graph = model.session("step")
    tried = np.empty((contexts, tries, model.state_dim), np.float32)
    feeds = {
        "state": tried.reshape(contexts * tries, -1),
        "action": np.tile(corners, (contexts, 1)),
        "beta": np.repeat(beta, tries, axis=0),
    }
    x = np.repeat(state, contexts, axis=0)
    chosen = np.empty((contexts, horizon), np.intp)
    for step in range(horizon):
        tried[:] = x[:, None]
        following = step_graph.run(["mean"], feeds)[0].reshape(tried.shape)
        along = following @ (x * weight)[:, :, None]
        chosen[:, step] = along[:, :, 0].argmax(axis=1)
        x = following[rows, chosen[:, step]]
    return corners[chosen]


def corner_actions(model: ContextModel) -> Floats:
    """All combinations of the actions' bounds, (2^U, U); none if they are more than ``_MOST_CORNERS``."""
    bounds = list(zip(model.manifest.action_low, model.manifest.action_high, strict=True))
    if 2 ** len(bounds) > _MOST_CORNERS:
        return np.empty((0, len(bounds)), np.float32)
    return np.array(list(itertools.product(*bounds)), np.float32)
