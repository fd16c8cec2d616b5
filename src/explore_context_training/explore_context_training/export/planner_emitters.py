"""Transition models as the planner's loops want them: fewest passes over memory per imagined step.

On two cores a step costs as much in elementwise passes as in products unless they are merged, so every first
product takes the sum of the action and context codes as its third operand (one ``Gemm`` with a fused
activation), and coordinates are chosen so that bounds are scalars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from explore_context_training.export.emitters import (
    Weights,
    emit_change,
    emit_context_factors,
    emit_linear,
    emit_mlp,
    emit_normalised_state,
    linear_weights,
    to_numpy,
)
from explore_context_training.export.graph_builder import GraphBuilder
from explore_context_training.networks import ContextModel
from explore_context_training.networks.transition_models import GruTransitionModel, ResidualTransitionModel

# Range of entries without bounds (the memory): beyond anything that happens, and a power of two, which
# scales exactly.
_FAR = np.float32(2.0**20)


# Multiplies hidden rows (K S, width) by their sample's context factors; leaves them alone if there are none.
Scaling = Callable[[GraphBuilder, str], str]


class Imagination(ABC):
    """One step of an imagined rollout in the planner's coordinates. ``parts``: widths of the codes that a
    step takes.
    """

    parts: tuple[int, ...]
    factors: int = 0  # width of the context factors
    latent: int  # width of what is carried from transition to transition
    # normalised state = scale * predicted + offset, both (X,)
    scale: Weights
    offset: Weights

    @abstractmethod
    def start(self, g: GraphBuilder, state: str) -> str:
        """First latent state (n, latent) from raw states (n, X)."""

    @abstractmethod
    def action_codes(self, g: GraphBuilder, action: str) -> list[str]:
        """Normalised actions (n, U) -> one code (n, width) for each of ``parts``."""

    @abstractmethod
    def context_codes(self, g: GraphBuilder, beta: str) -> list[str]:
        """Context samples (n, B) -> one code (n, width) for each of ``parts``; all biases are in here."""

    def context_factors(self, g: GraphBuilder, beta: str) -> str | None:
        """Factors (n, ``factors``) that the step takes beside the codes, if it takes any."""
        return None

    @abstractmethod
    def step(self, g: GraphBuilder, z: str, codes: list[str], scaled: Scaling) -> str:
        """What of the next latent state is carried on, from sums of action and context codes; ``scaled``
        applies the context factors."""

    @abstractmethod
    def predicted(self, g: GraphBuilder, z: str) -> str:
        """Predicted mean (n, X) in the planner's coordinates."""


class ResidualImagination(Imagination):
    """z~ = (z - middle) / half range: all bounds become -1 and 1, one vectorised ``Clip`` instead of two
    row-wise comparisons.

    A transition begins without the memory (``TransitionModel.renewed``): it is there between substeps only,
    and from transition to transition just the state is carried.
    """

    def __init__(self, model: ContextModel, network: ResidualTransitionModel) -> None:
        self._model, self._network = model, network
        self.latent = model.states
        self.parts, self.factors = network.code_widths[:1], sum(network.code_widths[1:])
        states = model.states
        low, high = to_numpy(network.low), to_numpy(network.high)
        bounded = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(bounded, low, -_FAR), np.where(bounded, high, _FAR)
        self._half: Weights = ((high - low) / 2).astype(np.float32)
        self._middle: Weights = ((high + low) / 2).astype(np.float32)
        self.scale, self.offset = self._half[:states], self._middle[:states]

    def start(self, g: GraphBuilder, state: str) -> str:
        normalised = emit_normalised_state(g, self._model, state)
        centred = g.op("Sub", normalised, g.constant(self.offset))
        return g.op("Mul", centred, g.constant(1.0 / self.scale))

    def action_codes(self, g: GraphBuilder, action: str) -> list[str]:
        return [emit_mlp(g, self._network.action_encoder, action)]

    def context_codes(self, g: GraphBuilder, beta: str) -> list[str]:
        weight, bias = linear_weights(self._network.input)
        code = emit_mlp(g, self._network.context_encoder, beta)
        return [g.op("Add", code, g.constant(bias + weight @ self._middle))]

    def context_factors(self, g: GraphBuilder, beta: str) -> str | None:
        return None if self._network.context_factors is None else emit_context_factors(g, self._network, beta)

    def step(self, g: GraphBuilder, z: str, codes: list[str], scaled: Scaling) -> str:
        inner = [self._network.latent] * (self._network.substeps - 1)
        for before, after in pairwise([self.latent, *inner, self.latent]):
            z = self._substep(g, z, codes[0], scaled, before, after)
        return z

    def _substep(
        self, g: GraphBuilder, z: str, code: str, scaled: Scaling, before: int, after: int
    ) -> str:
        """z (n, before) -> (n, after): all of the latent state, or its first part, the state."""
        network = self._network
        weight = (linear_weights(network.input)[0] * self._half).T[:before]
        hidden = g.op("Relu", g.op("Gemm", z, g.constant(weight, "weight"), code))
        hidden = scaled(g, emit_mlp(g, network.body[:-1], hidden))
        if after > before:
            z = g.op("Pad", z, g.integers(0, 0, 0, after - before))
        elif after < before:
            z = self._state(g, z)
        following = g.op("Add", z, emit_change(g, network, hidden, self._half, after))
        bounded = self._bounded(g, following)
        return bounded if network.contact is None else self._after_contact(g, following, bounded, after)

    def _bounded(self, g: GraphBuilder, z: str) -> str:
        return g.op("Clip", z, g.constant(-1.0), g.constant(1.0))

    def _after_contact(self, g: GraphBuilder, z: str, bounded: str, width: int) -> str:
        """``ContactReset``, b (1 - f) + t; here b~ - (b~ + middle / half) f + t / half."""
        assert self._network.contact is not None
        fraction, target = (to_numpy(w).T[:width, :width] for w in self._network.contact.weights())
        middle, half = self._middle[:width], self._half[:width]
        hit = g.op("Abs", g.op("Sign", g.op("Sub", z, bounded)))
        lost = g.op("Min", emit_linear(g, hit, fraction), g.constant([1.0]))
        absolute = g.op("Add", bounded, g.constant(middle / half))
        kept = g.op("Sub", bounded, g.op("Mul", absolute, lost))
        moved = emit_linear(g, hit, target / half[:, None])
        return self._bounded(g, g.op("Add", kept, moved))

    def predicted(self, g: GraphBuilder, z: str) -> str:
        return z

    def _state(self, g: GraphBuilder, z: str) -> str:
        return g.op("Slice", z, g.integers(0), g.integers(self._model.states), g.integers(1))


class GruImagination(Imagination):
    """The paper's GRU; one product per gate, so that nothing has to be split inside the loop."""

    def __init__(self, model: ContextModel, network: GruTransitionModel) -> None:
        self._model, self._network = model, network
        self.latent = network.latent
        self.parts = (network.latent,) * 3
        self.scale, self.offset = np.ones(model.states, np.float32), np.zeros(model.states, np.float32)

    def start(self, g: GraphBuilder, state: str) -> str:
        normalised = emit_normalised_state(g, self._model, state)
        return g.op("Tanh", emit_mlp(g, self._network.state_encoder, normalised))

    def action_codes(self, g: GraphBuilder, action: str) -> list[str]:
        code = g.op("Relu", emit_mlp(g, self._network.action_encoder, action))
        weight = to_numpy(self._network.cell.weight_ih[:, : self.latent])
        return [emit_linear(g, code, part) for part in np.split(weight, 3)]

    def context_codes(self, g: GraphBuilder, beta: str) -> list[str]:
        cell = self._network.cell
        code = g.op("Relu", emit_mlp(g, self._network.context_encoder, beta))
        weight = to_numpy(cell.weight_ih[:, self.latent :])
        bias = to_numpy(cell.bias_ih)
        # The new gate multiplies its hidden product, bias included, by the reset gate: that bias stays in the
        # step.
        bias[: 2 * self.latent] += to_numpy(cell.bias_hh)[: 2 * self.latent]
        return [
            emit_linear(g, code, w, b) for w, b in zip(np.split(weight, 3), np.split(bias, 3), strict=True)
        ]

    def step(self, g: GraphBuilder, z: str, codes: list[str], scaled: Scaling) -> str:
        cell = self._network.cell
        reset_weight, update_weight, new_weight = np.split(to_numpy(cell.weight_hh), 3)
        new_bias = to_numpy(cell.bias_hh)[2 * self.latent :]
        reset = g.op("Sigmoid", g.op("Gemm", z, g.constant(reset_weight.T, "weight"), codes[0]))
        update = g.op("Sigmoid", g.op("Gemm", z, g.constant(update_weight.T, "weight"), codes[1]))
        hidden = emit_linear(g, z, new_weight, new_bias)
        new = g.op("Tanh", g.op("Add", codes[2], g.op("Mul", reset, hidden)))
        return g.op("Add", new, g.op("Mul", update, g.op("Sub", z, new)))

    def predicted(self, g: GraphBuilder, z: str) -> str:
        return emit_mlp(g, self._network.mean_decoder, z)


def imagination(model: ContextModel) -> Imagination:
    network = model.transition
    if isinstance(network, GruTransitionModel):
        return GruImagination(model, network)
    assert isinstance(network, ResidualTransitionModel)
    return ResidualImagination(model, network)
