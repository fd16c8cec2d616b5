"""What every plant offers: pure, batched physics and nothing else (no ROS, no torch).

One system and 100 000 systems go through the same code: every array has a leading batch dimension ``n``.
A subclass writes the physics once, in ``_step``, ``_observe`` and the two samplers; this base class checks
what comes in at the door, so that the physics may assume good numbers, and cuts large batches into blocks
that stay in the cache.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Rows per block: the dozen temporaries of a physics step then fit in the second-level cache of one core.
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class PlantSpec:
    """Names, bounds and timing of a plant; the lengths of the tuples are its dimensions.

    Attributes
    ----------
    state_names:  simulation state, S entries (what physics needs; may differ from what is observed).
    observation_names:  the paper's x, X entries (what the model sees).
    action_names:  the paper's u, U entries.
    context_names:  hidden parameters (the paper's alpha), C entries.
    dt:  seconds per transition.
    """

    name: str
    state_names: tuple[str, ...]
    observation_names: tuple[str, ...]
    action_names: tuple[str, ...]
    context_names: tuple[str, ...]
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    observation_low: tuple[float, ...]
    observation_high: tuple[float, ...]
    dt: float
    initial_state_modes: tuple[str, ...] = ("training", "calibration")

    @property
    def state_dim(self) -> int:
        return len(self.state_names)

    @property
    def observation_dim(self) -> int:
        return len(self.observation_names)

    @property
    def action_dim(self) -> int:
        return len(self.action_names)

    @property
    def context_dim(self) -> int:
        return len(self.context_names)


class Plant(ABC):
    """A family of systems that differ in hidden parameters, the *context* ``alpha``.

    ``state`` (n, S), ``action`` (n, U), ``context`` (n, C), ``observation`` (n, X); all float64.
    """

    spec: PlantSpec
    has_reward: bool = False

    @abstractmethod
    def sample_context(self, rng: np.random.Generator, n: int) -> Array:
        """Draw the hidden parameters of ``n`` systems of the family, (n, C)."""

    @abstractmethod
    def _initial_state(self, mode: str, rng: np.random.Generator, n: int) -> Array: ...

    @abstractmethod
    def _step(self, state: Array, action: Array, context: Array, rng: np.random.Generator) -> Array: ...

    @abstractmethod
    def _observe(self, state: Array) -> Array: ...

    def _reward(self, state: Array, action: Array, context: Array) -> Array:
        raise NotImplementedError

    def initial_state(self, mode: str, rng: np.random.Generator, n: int = 1) -> Array:
        """Draw initial states, (n, S). ``mode``: "training" (the data's distribution) or "calibration"."""
        if mode not in self.spec.initial_state_modes:
            raise ValueError(
                f"plant {self.spec.name!r} has no initial-state mode {mode!r}; "
                f"choose one of {', '.join(self.spec.initial_state_modes)}"
            )
        return self._initial_state(mode, rng, n)

    def step(self, state: Array, action: Array, context: Array, rng: np.random.Generator) -> Array:
        """One transition x, u -> x+ (equation 1), (n, S). Actions are clipped to their bounds first."""
        state, action, context = self._checked(state, action, context)
        action = np.clip(action, self.spec.action_low, self.spec.action_high)
        if len(state) <= _BLOCK_ROWS:
            return self._step(state, action, context, rng)
        blocks = [slice(i, i + _BLOCK_ROWS) for i in range(0, len(state), _BLOCK_ROWS)]
        following = np.empty_like(state)
        for block in blocks:
            following[block] = self._step(state[block], action[block], context[block], rng)
        return following

    def observe(self, state: Array) -> Array:
        """What a sensor sees of the state: the paper's x, (n, X)."""
        return self._observe(_checked_array("state", state, self.spec.state_dim))

    def reward(self, state: Array, action: Array, context: Array) -> Array:
        """Reward of the transition that starts at ``state`` with ``action``, (n,)."""
        if not self.has_reward:
            raise ValueError(f"plant {self.spec.name!r} has no reward")
        state, action, context = self._checked(state, action, context)
        return self._reward(state, np.clip(action, self.spec.action_low, self.spec.action_high), context)

    def check_context(self, context: Array) -> Array:
        """Validate hidden parameters given by a user, (n, C); subclasses add what physics demands."""
        return _checked_array("context", context, self.spec.context_dim)

    def sample_actions(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Actions uniform within the bounds, (*shape, U)."""
        return rng.uniform(self.spec.action_low, self.spec.action_high, (*shape, self.spec.action_dim))

    def _checked(self, state: Array, action: Array, context: Array) -> tuple[Array, Array, Array]:
        state = _checked_array("state", state, self.spec.state_dim)
        action = _checked_array("action", action, self.spec.action_dim)
        context = self.check_context(context)
        if not len(state) == len(action) == len(context):
            raise ValueError(
                f"batch sizes differ: state {len(state)}, action {len(action)}, context {len(context)} rows"
            )
        return state, action, context


def _checked_array(what: str, array: Array, columns: int) -> Array:
    array = np.asarray(array, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != columns:
        raise ValueError(f"{what} must have shape (n, {columns}), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} holds a non-finite number")
    return array
