"""The networks as ONNX nodes. Each function mirrors the PyTorch method of the same name; all tensors are
two-dimensional, rows first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from explore_context_training.export.graph_builder import GraphBuilder
from explore_context_training.networks import ContextModel
from explore_context_training.networks.context_encoder import ANCHORED_SHIFT, STD_FLOOR, STD_SCALE, STD_SHIFT
from explore_context_training.networks.layers import NonNegativeLinear, PairwiseProducts
from explore_context_training.networks.transition_models import GruTransitionModel, ResidualTransitionModel

Weights = NDArray[np.float32]


def to_numpy(tensor: Tensor) -> Weights:
    return tensor.detach().cpu().numpy().astype(np.float32)


def emit_linear(g: GraphBuilder, x: str, weight: Weights, bias: Weights | None = None) -> str:
    """x W^T + b as one Gemm, which ONNX Runtime fuses with a following activation."""
    inputs = [x, g.constant(weight.T, "weight")]
    if bias is not None:
        inputs.append(g.constant(bias, "bias"))
    return g.op("Gemm", *inputs)


def linear_weights(layer: nn.Module) -> tuple[Weights, Weights]:
    assert isinstance(layer, nn.Linear)
    weight = functional.relu(layer.weight) if isinstance(layer, NonNegativeLinear) else layer.weight
    return to_numpy(weight), to_numpy(layer.bias)


def emit_mlp(g: GraphBuilder, network: nn.Module, x: str) -> str:
    assert isinstance(network, nn.Sequential)
    for layer in network:
        if isinstance(layer, nn.Linear):
            x = emit_linear(g, x, *linear_weights(layer))
        elif isinstance(layer, nn.ReLU):
            x = g.op("Relu", x)
        else:
            raise TypeError(f"no ONNX form is known for {type(layer).__name__}")
    return x


def emit_first_layer_with_products(
    g: GraphBuilder, features: nn.Module, layer: nn.Linear, x: str, width: int, rows: str
) -> str:
    """First linear layer on [v, v_i v_j]: the products are one outer product, the weights of the pairs i
    > j are zero.

    One broadcast multiplication is far cheaper than gathering the pairs. ``x`` (n, width); ``rows``:
    shape constant [-1, width^2].
    """
    weight, bias = linear_weights(layer)
    if not isinstance(features, PairwiseProducts):
        return emit_linear(g, x, weight, bias)
    square = np.zeros((len(weight), width, width), np.float32)
    square[:, features.rows.numpy(), features.columns.numpy()] = weight[:, width:]
    outer = g.op("Mul", g.op("Unsqueeze", x, g.integers(2)), g.op("Unsqueeze", x, g.integers(1)))
    inputs = g.op("Concat", x, g.op("Reshape", outer, rows), axis=1)
    return emit_linear(
        g, inputs, np.concatenate([weight[:, :width], square.reshape(len(weight), -1)], axis=1), bias
    )


def emit_normalised_state(g: GraphBuilder, model: ContextModel, state: str) -> str:
    centred = g.op("Sub", state, g.constant(to_numpy(model.state_mean)))
    return g.op("Mul", centred, g.constant(1.0 / to_numpy(model.state_scale)))


def emit_raw_state(g: GraphBuilder, model: ContextModel, state: str) -> str:
    scaled = g.op("Mul", state, g.constant(to_numpy(model.state_scale)))
    return g.op("Add", scaled, g.constant(to_numpy(model.state_mean)))


def emit_normalised_action(g: GraphBuilder, model: ContextModel, action: str) -> str:
    return g.op("Mul", action, g.constant(1.0 / to_numpy(model.action_scale)))


def emit_embedding(g: GraphBuilder, model: ContextModel, state: str, action: str, change: str) -> str:
    """g_trans of normalised x (n, X), u (n, U) and (x+ - x) / change_scale (n, X) -> (n, F)."""
    width = 2 * model.states + model.actions
    x = g.op("Concat", state, action, change, axis=1)
    network = model.encoder.transition_encoder
    first = network[0]
    assert isinstance(first, nn.Linear)
    x = emit_first_layer_with_products(
        g, model.encoder.features, first, x, width, g.integers(-1, width * width)
    )
    return g.op("Relu", emit_mlp(g, network[1:], x))


def emit_belief_mean(g: GraphBuilder, model: ContextModel, pooled: str) -> str:
    offset = _at_zero(model.encoder.mean_decoder, model) if model.encoder.anchored else 0.0
    return _emit_decoder(g, model.encoder.mean_decoder, pooled, 1.0, -offset)


def emit_belief_std(g: GraphBuilder, model: ContextModel, pooled: str) -> str:
    """softplus(shift - 0.3 g_nonneg(z)) + 0.01, scale and shift folded into the last layer."""
    shift: Weights | float = STD_SHIFT
    if model.encoder.anchored:
        shift = ANCHORED_SHIFT + STD_SCALE * _at_zero(model.encoder.std_decoder, model)
    argument = _emit_decoder(g, model.encoder.std_decoder, pooled, -STD_SCALE, shift)
    return g.op("Add", g.op("Softplus", argument), g.constant([STD_FLOOR]))


def _at_zero(network: nn.Module, model: ContextModel) -> Weights:
    with torch.no_grad():
        return to_numpy(network(torch.zeros(1, model.settings.embedding)))[0]


def _emit_decoder(g: GraphBuilder, network: nn.Module, x: str, scale: float, shift: Weights | float) -> str:
    """scale * network(x) + shift with both folded into the last layer."""
    assert isinstance(network, nn.Sequential) and isinstance(network[-1], nn.Linear)
    weight, bias = linear_weights(network[-1])
    return emit_linear(g, emit_mlp(g, network[:-1], x), scale * weight, scale * bias + np.float32(shift))


class TransitionEmitter(ABC):
    """``networks.transition_models.TransitionModel`` as ONNX nodes; everything normalised and
    two-dimensional.
    """

    def __init__(self, model: ContextModel) -> None:
        self.model = model

    @property
    def latent(self) -> int:
        return self.model.transition.latent

    @abstractmethod
    def start(self, g: GraphBuilder, state: str) -> str: ...

    @abstractmethod
    def action_code(self, g: GraphBuilder, action: str) -> str: ...

    @abstractmethod
    def context_code(self, g: GraphBuilder, beta: str) -> str: ...

    @abstractmethod
    def context_width(self) -> int:
        """Width of ``context_code``."""

    @abstractmethod
    def step(self, g: GraphBuilder, z: str, action_code: str, context_code: str) -> str: ...

    @abstractmethod
    def mean(self, g: GraphBuilder, z: str) -> str: ...

    def variance(self, g: GraphBuilder, z: str) -> str:
        decoder = self.model.transition.variance_decoder
        floor = g.constant([decoder.floor])
        if decoder.network is None:
            # The constant is tied to the rows of z, so that the batch stays dynamic.
            zero = g.op("Mul", g.op("ReduceSum", z, g.integers(1), keepdims=1), g.constant([0.0]))
            argument = g.op("Add", zero, g.constant(to_numpy(decoder.constant)))
        else:
            argument = emit_mlp(g, decoder.network, z)
        return g.op("Add", g.op("Softplus", argument), floor)


def emit_context_factors(g: GraphBuilder, network: ResidualTransitionModel, beta: str) -> str:
    """The modulated model's factors of the last hidden layer, (n, body)."""
    assert network.context_factors is not None
    argument = g.op("Mul", emit_mlp(g, network.context_factors, beta), g.constant([0.5]))
    return g.op("Mul", g.op("Tanh", argument), g.constant([2.0]))


def emit_change(
    g: GraphBuilder,
    network: ResidualTransitionModel,
    hidden: str,
    unit: Weights | float = 1.0,
    width: int | None = None,
) -> str:
    """step_scale * last layer, in units of ``unit`` (latent,), all folded into one product; of its outputs
    the first ``width``.
    """
    scale = to_numpy(network.step_scale) / np.float32(unit)
    weight, bias = linear_weights(network.body[-1])
    return emit_linear(g, hidden, (scale[:, None] * weight)[:width], (scale * bias)[:width])


class ResidualEmitter(TransitionEmitter):
    @property
    def _network(self) -> ResidualTransitionModel:
        network = self.model.transition
        assert isinstance(network, ResidualTransitionModel)
        return network

    def start(self, g: GraphBuilder, state: str) -> str:
        memory = self.latent - self.model.states
        return g.op("Pad", state, g.integers(0, 0, 0, memory))

    def action_code(self, g: GraphBuilder, action: str) -> str:
        return emit_mlp(g, self._network.action_encoder, action)

    def context_code(self, g: GraphBuilder, beta: str) -> str:
        added = emit_mlp(g, self._network.context_encoder, beta)
        if self._network.context_factors is None:
            return added
        return g.op("Concat", added, emit_context_factors(g, self._network, beta), axis=1)

    def context_width(self) -> int:
        return sum(self._network.code_widths)

    def step(self, g: GraphBuilder, z: str, action_code: str, context_code: str) -> str:
        network = self._network
        added, factors = context_code, None
        if network.context_factors is not None:
            added, factors = g.ops("Split", [context_code, g.integers(*network.code_widths)], 2, axis=1)
        code = g.op("Add", action_code, added)
        for _ in range(network.substeps):
            z = self._substep(g, z, code, factors)
        return z

    def _substep(self, g: GraphBuilder, z: str, code: str, factors: str | None) -> str:
        network = self._network
        hidden = g.op("Relu", g.op("Add", emit_linear(g, z, *linear_weights(network.input)), code))
        hidden = emit_mlp(g, network.body[:-1], hidden)
        if factors is not None:
            hidden = g.op("Mul", hidden, factors)
        following = g.op("Add", z, emit_change(g, network, hidden))
        bounded = self._bounded(g, following)
        return bounded if network.contact is None else self._after_contact(g, following, bounded)

    def _bounded(self, g: GraphBuilder, z: str) -> str:
        above = g.op("Max", z, g.constant(to_numpy(self._network.low)))
        return g.op("Min", above, g.constant(to_numpy(self._network.high)))

    def _after_contact(self, g: GraphBuilder, z: str, bounded: str) -> str:
        assert self._network.contact is not None
        fraction, target = (to_numpy(weights).T for weights in self._network.contact.weights())
        hit = g.op("Abs", g.op("Sign", g.op("Sub", z, bounded)))
        kept = g.op("Sub", g.constant([1.0]), g.op("Min", emit_linear(g, hit, fraction), g.constant([1.0])))
        return self._bounded(g, g.op("Add", g.op("Mul", bounded, kept), emit_linear(g, hit, target)))

    def mean(self, g: GraphBuilder, z: str) -> str:
        return g.op("Slice", z, g.integers(0), g.integers(self.model.states), g.integers(1))


class GruEmitter(TransitionEmitter):
    @property
    def _network(self) -> GruTransitionModel:
        network = self.model.transition
        assert isinstance(network, GruTransitionModel)
        return network

    def start(self, g: GraphBuilder, state: str) -> str:
        return g.op("Tanh", emit_mlp(g, self._network.state_encoder, state))

    def action_code(self, g: GraphBuilder, action: str) -> str:
        cell = self._network.cell
        code = g.op("Relu", emit_mlp(g, self._network.action_encoder, action))
        return emit_linear(g, code, to_numpy(cell.weight_ih[:, : self.latent]), to_numpy(cell.bias_ih))

    def context_code(self, g: GraphBuilder, beta: str) -> str:
        code = g.op("Relu", emit_mlp(g, self._network.context_encoder, beta))
        return emit_linear(g, code, to_numpy(self._network.cell.weight_ih[:, self.latent :]))

    def context_width(self) -> int:
        return 3 * self.latent

    def step(self, g: GraphBuilder, z: str, action_code: str, context_code: str) -> str:
        cell, width = self._network.cell, self.latent
        codes = g.op("Add", action_code, context_code)
        inputs = g.ops("Split", [codes, g.integers(2 * width, width)], 2, axis=1)
        weight, bias = to_numpy(cell.weight_hh), to_numpy(cell.bias_hh)
        gates = emit_linear(g, z, weight[: 2 * width], bias[: 2 * width])
        gates = g.op("Sigmoid", g.op("Add", gates, inputs[0]))
        reset, update = g.ops("Split", [gates, g.integers(width, width)], 2, axis=1)
        hidden = emit_linear(g, z, weight[2 * width :], bias[2 * width :])
        new = g.op("Tanh", g.op("Add", inputs[1], g.op("Mul", reset, hidden)))
        return g.op("Add", new, g.op("Mul", update, g.op("Sub", z, new)))

    def mean(self, g: GraphBuilder, z: str) -> str:
        return emit_mlp(g, self._network.mean_decoder, z)


def transition_emitter(model: ContextModel) -> TransitionEmitter:
    return GruEmitter(model) if isinstance(model.transition, GruTransitionModel) else ResidualEmitter(model)
