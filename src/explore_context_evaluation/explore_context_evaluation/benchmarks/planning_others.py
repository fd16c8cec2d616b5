"""Other libraries' optimisers on our objective with the real-time planner's budget; those installed.

They search anew, without a warm start, as the planner that they stand beside in the table. mbrl is not among
them: its last release wants gymnasium 0.26.3, this project a newer one.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from explore_context.planning import Objective

Floats = NDArray[np.float32]
# (objective, horizon, low, high, evaluations, seed) -> actions (H, U)
Optimiser = Callable[[Objective, int, Floats, Floats, int, int], Floats]

_ITERATIONS = 3


def installed_optimisers() -> dict[str, Optimiser]:
    """By the name of the package."""
    known: dict[str, tuple[str, Optimiser]] = {
        "pytorch-icem": ("pytorch_icem", _icem),
        "pytorch-mppi": ("pytorch_mppi", _mppi),
        "torchrl CEM": ("torchrl", _torchrl),
    }
    return {
        name: optimiser
        for name, (module, optimiser) in known.items()
        if importlib.util.find_spec(module) is not None
    }


def _cost(objective: Objective, actions: torch.Tensor, low: Floats, high: Floats) -> torch.Tensor:
    scores = objective(np.clip(actions.numpy(), low, high).astype(np.float32))
    return -torch.from_numpy(np.asarray(scores))


def _icem(
    objective: Objective, horizon: int, low: Floats, high: Floats, evaluations: int, seed: int
) -> Floats:
    from pytorch_icem import iCEM

    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the library draws its coloured noise from numpy's global stream)
    warnings.filterwarnings("ignore", module="pytorch_icem")
    planner = iCEM(
        dynamics=lambda state, action: state,
        trajectory_cost=lambda states, actions: _cost(objective, actions, low, high),
        nx=1,
        nu=len(low),
        sigma=torch.from_numpy((high - low) / 2),
        num_samples=evaluations // _ITERATIONS,
        num_elites=min(10, evaluations // _ITERATIONS // 2),
        horizon=horizon,
        warmup_iters=_ITERATIONS,
        online_iters=_ITERATIONS,
    )
    # Its best candidate, as [state, action] of every step.
    best = planner.command(torch.zeros(1), shift_nominal_trajectory=False, return_full_trajectories=True)[0]
    return np.clip(best[:, 1:].numpy(), low, high).astype(np.float32)


def _mppi(
    objective: Objective, horizon: int, low: Floats, high: Floats, evaluations: int, seed: int
) -> Floats:
    from pytorch_mppi import MPPI

    torch.manual_seed(seed)
    planner = MPPI(
        dynamics=lambda state, action: state,
        running_cost=lambda state, action: torch.zeros(len(state)),
        nx=1,
        noise_sigma=torch.diag(torch.from_numpy((high - low) / 2) ** 2),
        num_samples=evaluations // _ITERATIONS,
        horizon=horizon,
        terminal_state_cost=lambda states, actions: _cost(objective, actions[0], low, high)[None],
        lambda_=0.1,
        u_min=torch.from_numpy(low),
        u_max=torch.from_numpy(high),
        U_init=torch.zeros(horizon, len(low)),
    )
    for _ in range(_ITERATIONS):
        planner.command(torch.zeros(1), shift_nominal_trajectory=False)
    return np.clip(planner.U.numpy(), low, high).astype(np.float32)


def _torchrl(
    objective: Objective, horizon: int, low: Floats, high: Floats, evaluations: int, seed: int
) -> Floats:
    from explore_context_evaluation.benchmarks.planning_torchrl import torchrl_cem

    return torchrl_cem(objective, horizon, low, high, evaluations, seed)
