"""What a planner maximises: expected information gain (calibration), minus the swing-up cost (control)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from explore_context.model import Belief, ContextModel
from explore_context.planning.device import CUDA, DeviceRunner, DeviceSearch
from explore_context.planning.execution import ExecutionSettings, block_runner
from explore_context.planning.plan import Floats
from explore_context.planning.swings import swings
from explore_context.planning.ways import Outlook, WayRunner, way_runner


class Runner(Protocol):
    """Evaluates one of the model's planner graphs on actions (K, H, U)."""

    def run(self, fixed: Mapping[str, Floats], actions: Floats) -> Floats: ...


def graph_runner(model: ContextModel, graph: str, execution: ExecutionSettings | None) -> Runner:
    """Blocks on a CPU, one call with bound tensors on a GPU."""
    if model.provider == CUDA:
        return DeviceRunner(model, graph)
    return block_runner(model, graph, execution)


@dataclass(frozen=True)
class GainObjective:
    """Expected information gain (nats) of candidates (K, H, U) -> (K,) from a fixed state, belief and set of
    context samples. ``remaining``: transitions for which one can still react; 0: none can.
    """

    runner: Runner
    fixed: dict[str, Floats]
    model: ContextModel
    ways: WayRunner
    refined: GainObjective | None = None
    remaining: int = 0

    def __call__(self, candidates: Floats) -> Floats:
        return self.runner.run(self.fixed, candidates)

    @property
    def samples(self) -> int:
        """S: what a candidate costs."""
        return len(self.fixed["beta"])

    def suggestions(self, horizon: int) -> Floats:
        """Swings under the mean of the context samples and under each of them, (S + 1, H, U)."""
        beta = self.fixed["beta"]
        contexts = np.concatenate([beta.mean(axis=0, keepdims=True), beta])
        return swings(self.model, self.fixed["state"], contexts, horizon)

    def outlook(
        self, ways: int, samples: int, rng: np.random.Generator, seconds: float | None
    ) -> Outlook | None:
        """The first action after which most is to be learned by reacting (``ways.py``), with at most
        ``samples`` context samples of the refined objective. None where nobody can react.
        """
        if not self.remaining:
            return None
        beta = (self.refined or self).fixed["beta"]
        spread = beta[:: max(1, len(beta) // samples)][:samples]  # keeps antithetic pairs together
        fixed = self.fixed["state"], self.fixed["pooled"]
        return self.ways.outlook(*fixed, spread, self.remaining, ways, rng, seconds)

    @property
    def device_search(self) -> Callable[..., DeviceSearch] | None:
        """Makes a search whose tensors stay on the device; None on a CPU."""
        if not isinstance(self.runner, DeviceRunner):
            return None
        return partial(DeviceSearch, self.runner, self.fixed)


class ExpectedInformationGain:
    """EIG(u | x_0, T_0) (equation 10): expected drop of the belief's entropy over imagined rollouts.

    The expectation over q(beta | T_0) is the average over the context samples; states are the predicted
    means, as in the paper; of a residual model each is predicted from the one before alone, without the
    memory of a long rollout.
    """

    def __init__(
        self, model: ContextModel, execution: ExecutionSettings | None = None, runner: Runner | None = None
    ) -> None:
        self._model = model
        self._runner = runner or graph_runner(model, "gain", execution)
        self._ways = way_runner(model, execution)

    def bind(
        self,
        state: ArrayLike,
        belief: Belief,
        samples: ArrayLike,
        finalist_samples: ArrayLike | None = None,
        remaining: int = 0,
    ) -> GainObjective:
        """Objective at ``state`` (X,) with ``samples`` (S, B) of the belief; ``finalist_samples``: those of
        ``refined``; ``remaining``: transitions up to the end, where each will have a plan of its own.
        """
        fixed = {
            "state": _row(state, self._model.state_dim),
            "pooled": np.ascontiguousarray(belief.embedding, np.float32)[None],
            "beta": _samples(samples, self._model.belief_dim),
        }
        refined = None if finalist_samples is None else self.bind(state, belief, finalist_samples)
        return GainObjective(self._runner, fixed, self._model, self._ways, refined, remaining)


@dataclass(frozen=True)
class SwingUpObjective:
    """Minus the swing-up cost of candidates (K, H, 1) -> (K,), averaged over context samples."""

    runner: Runner
    fixed: dict[str, Floats]

    def __call__(self, candidates: Floats) -> Floats:
        means = self.runner.run(self.fixed, candidates)
        return -swing_up_cost(means, np.asarray(candidates)[:, None]).sum(axis=2).mean(axis=1)


class SwingUpCost:
    """Gym's pendulum cost on predicted states and the *unfactored* action, for a model of the pendulum."""

    def __init__(self, model: ContextModel, execution: ExecutionSettings | None = None) -> None:
        needed, found = ("cos_angle", "sin_angle", "angular_velocity"), model.manifest.state_names
        if found != needed:
            raise ValueError(
                f"{model.folder}: swing-up needs a model of the states {needed}, this has {found}"
            )
        self._model = model
        self._runner = graph_runner(model, "imagine", execution)

    def bind(self, state: ArrayLike, belief: Belief, samples: ArrayLike) -> SwingUpObjective:
        """Objective at ``state`` (X,); ``samples`` (S, B): the belief's mean alone as in the paper, or draws
        from the belief.
        """
        fixed = {
            "state": _row(state, self._model.state_dim),
            "beta": _samples(samples, self._model.belief_dim),
        }
        return SwingUpObjective(self._runner, fixed)


def swing_up_cost(state: Floats, action: Floats) -> Floats:
    """theta^2 + 0.1 theta'^2 + 0.001 u^2: states [cos, sin, theta'] (..., 3), actions (..., 1) -> (...)."""
    angle = np.arctan2(state[..., 1], state[..., 0])
    cost: Floats = angle**2 + 0.1 * state[..., 2] ** 2 + 0.001 * action[..., 0] ** 2
    return cost


def _row(state: ArrayLike, columns: int) -> Floats:
    row = np.ascontiguousarray(state, np.float32).reshape(1, -1)
    if row.shape[1] != columns or not np.isfinite(row).all():
        raise ValueError(f"state must hold {columns} finite numbers, got {np.asarray(state)}")
    return row


def _samples(array: ArrayLike, columns: int) -> Floats:
    samples = np.ascontiguousarray(array, np.float32)
    if samples.ndim != 2 or samples.shape[1] != columns or not len(samples):
        raise ValueError(f"samples must have shape (S, {columns}) with S >= 1, got {samples.shape}")
    return samples
