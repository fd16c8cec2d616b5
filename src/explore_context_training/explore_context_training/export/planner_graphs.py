"""The planner's graphs: expected information gain and imagined states of many action sequences under many
context samples.

K candidates, S context samples, H steps; K, S and H are dynamic. Rows are candidate-major (row = k S + s).
Nothing is computed twice: the action part of the first product once per candidate, the context part once per
sample, the first latent state once. The loop over H is a ``Scan`` whose body holds its own weights, so that
ONNX Runtime packs them once; values of the outer graph (context codes) are captured.
"""

from __future__ import annotations

import numpy as np
import onnx
from torch import nn

from explore_context_training.export.emitters import (
    Weights,
    emit_belief_std,
    emit_linear,
    emit_mlp,
    emit_normalised_action,
    linear_weights,
    to_numpy,
)
from explore_context_training.export.graph_builder import GraphBuilder
from explore_context_training.export.planner_emitters import Imagination, imagination
from explore_context_training.networks import ContextModel
from explore_context_training.networks.layers import PairwiseProducts


def gain_graph(model: ContextModel) -> onnx.ModelProto:
    """Expected information gain (equation 10), nats.

    state (1, X), pooled (1, F) embedding of T_0, beta (S, B) samples of q(beta | T_0), actions (K, H, U) ->
    gain (K,).
    """
    g = GraphBuilder("gain")
    imagined = imagination(model)
    width = model.settings.embedding
    state = g.input("state", [1, model.states])
    pooled = g.input("pooled", [1, width])
    loop = _Loop(g, model, imagined, state)
    last = _last_bias(model)
    shifted = g.op("Sub", g.constant(last), pooled)

    body = GraphBuilder("gain_step", "step_")
    z_in = body.input("z", ["n", imagined.latent])
    x_in = body.input("x", ["n", model.states])
    # b - pooled, with b the bias of the encoder's last layer: see below.
    shifted_in = body.input("shifted", ["n", width])
    codes, action = loop.scanned_inputs(body)
    z = imagined.step(body, z_in, codes, loop.scaled)
    x = imagined.predicted(body, z)
    # max(p, e) = p + relu(e - p): the maximum becomes the fused activation of the encoder's last product, and
    # since p is never negative the encoder's own last relu is contained in it.
    hidden = emit_encoder_hidden(body, model, imagined, x_in, loop.for_all_samples(body, action), x)
    increase = body.op(
        "Relu", body.op("Gemm", hidden, body.constant(_last_weight(model).T, "weight"), shifted_in)
    )
    body.output(z, "z_next", ["n", imagined.latent])
    body.output(x, "x_next", ["n", model.states])
    body.output(body.op("Sub", shifted_in, increase), "shifted_next", ["n", width])
    start = [
        loop.start,
        loop.for_all_rows(imagined_state(g, model, imagined, state), model.states),
        loop.for_all_rows(shifted, width),
    ]
    final = g.scan(body, start, loop.scanned, outputs=0, axis=0)[2]

    before = _emit_entropy(g, model, pooled)
    after = _emit_entropy(g, model, g.op("Sub", g.constant(last), final))
    expected = g.op("ReduceMean", g.op("Reshape", after, loop.by_sample), axes=[1], keepdims=0)
    g.output(g.op("Sub", before, expected), "gain", ["K"])
    return g.model()


def imagine_graph(model: ContextModel) -> onnx.ModelProto:
    """Predicted means: state (1, X), beta (S, B), actions (K, H, U) -> means (K, S, H, X), raw."""
    g = GraphBuilder("imagine")
    imagined = imagination(model)
    loop = _Loop(g, model, imagined, g.input("state", [1, model.states]))

    body = GraphBuilder("imagine_step", "step_")
    z_in = body.input("z", ["n", imagined.latent])
    codes, _ = loop.scanned_inputs(body)
    z = imagined.step(body, z_in, codes, loop.scaled)
    body.output(z, "z_next", ["n", imagined.latent])
    body.output(imagined.predicted(body, z), "predicted", ["n", model.states])
    predicted = g.scan(body, [loop.start], loop.scanned, outputs=1, axis=0)[1]

    shape = g.op("Concat", g.integers(-1), loop.candidates, loop.samples, g.integers(model.states), axis=0)
    ordered = g.op("Transpose", g.op("Reshape", predicted, shape), perm=[1, 2, 0, 3])
    scale, mean = to_numpy(model.state_scale), to_numpy(model.state_mean)
    raw = g.op("Mul", ordered, g.constant(scale * imagined.scale))
    g.output(
        g.op("Add", raw, g.constant(scale * imagined.offset + mean)), "means", ["K", "S", "H", model.states]
    )
    return g.model()


class _Loop:
    """What both graphs share: inputs ``beta`` and ``actions``, codes computed outside the loop, shapes."""

    def __init__(self, g: GraphBuilder, model: ContextModel, imagined: Imagination, state: str) -> None:
        self._g, self._model, self._imagined = g, model, imagined
        beta = g.input("beta", ["S", model.settings.belief])
        actions = g.input("actions", ["K", "H", model.actions])
        self.samples = g.op("Slice", g.op("Shape", beta), g.integers(0), g.integers(1))
        self.candidates = g.op("Slice", g.op("Shape", actions), g.integers(0), g.integers(1))
        self.by_sample = g.op("Concat", g.integers(-1), self.samples, axis=0)
        self._rows = g.op("Mul", self.candidates, self.samples)
        self.start = self.for_all_rows(imagined.start(g, state), imagined.latent)
        # (1, S, C) each, captured by the loop's body
        self._context_codes = [
            g.op("Unsqueeze", code, g.integers(0)) for code in imagined.context_codes(g, beta)
        ]
        factors = imagined.context_factors(g, beta)
        # (1, S C): one long row that every candidate's samples are multiplied with
        self._factors = None if factors is None else g.op("Reshape", factors, g.integers(1, -1))
        self._by_candidate = g.op("Concat", self.candidates, g.integers(-1), axis=0)
        # (H, K, U): the loop's axis first, or Scan would copy.
        normalised = emit_normalised_action(g, model, g.op("Transpose", actions, perm=[1, 0, 2]))
        codes = imagined.action_codes(g, g.op("Reshape", normalised, g.integers(-1, model.actions)))
        self.scanned = [
            *(self._by_step(code, width) for code, width in zip(codes, imagined.parts, strict=True)),
            normalised,
        ]

    def for_all_rows(self, value: str, width: int) -> str:
        """(1, width) -> (K S, width)."""
        return self._g.op("Expand", value, self._g.op("Concat", self._rows, self._g.integers(width), axis=0))

    def scanned_inputs(self, body: GraphBuilder) -> tuple[list[str], str]:
        """Sums of action and context codes (K S, C) for one step, and the normalised action (K, U)."""
        codes = []
        for index, (width, context) in enumerate(zip(self._imagined.parts, self._context_codes, strict=True)):
            action = body.input(f"code_{index}", ["K", width])
            both = body.op("Add", body.op("Unsqueeze", action, body.integers(1)), context)
            codes.append(body.op("Reshape", both, body.integers(-1, width)))
        return codes, body.input("action", ["K", self._model.actions])

    def scaled(self, body: GraphBuilder, hidden: str) -> str:
        """Hidden rows (K S, C) times the context factors of their samples."""
        if self._factors is None:
            return hidden
        product = body.op("Mul", body.op("Reshape", hidden, self._by_candidate), self._factors)
        return body.op("Reshape", product, body.integers(-1, self._imagined.factors))

    def for_all_samples(self, body: GraphBuilder, action: str) -> str:
        """(K, U) -> (K S, U)."""
        width = self._model.actions
        shape = body.op("Concat", self.candidates, self.samples, body.integers(width), axis=0)
        expanded = body.op("Expand", body.op("Unsqueeze", action, body.integers(1)), shape)
        return body.op("Reshape", expanded, body.integers(-1, width))

    def _by_step(self, code: str, width: int) -> str:
        shape = self._g.op("Concat", self._g.integers(-1), self.candidates, self._g.integers(width), axis=0)
        return self._g.op("Reshape", code, shape)


def imagined_state(g: GraphBuilder, model: ContextModel, imagined: Imagination, state: str) -> str:
    """Raw state (n, X) in the planner's coordinates."""
    scale = to_numpy(model.state_scale) * imagined.scale
    offset = to_numpy(model.state_mean) + to_numpy(model.state_scale) * imagined.offset
    return g.op("Mul", g.op("Sub", state, g.constant(offset)), g.constant(1.0 / scale))


def emit_encoder_hidden(
    g: GraphBuilder, model: ContextModel, imagined: Imagination, x: str, action: str, following: str
) -> str:
    """g_trans up to its last layer: x, x+ (n, X) in the planner's coordinates, normalised u (n, U) -> (n,
    hidden).
    """
    inputs = g.op("Concat", x, action, following, axis=1)
    matrix, offset = _to_transition(model, imagined)
    network = model.encoder.transition_encoder
    weight, bias = linear_weights(network[0])
    products = model.encoder.features
    if isinstance(products, PairwiseProducts):
        hidden = emit_linear(g, _emit_products(g, products, inputs, matrix, offset), weight, bias)
    else:
        hidden = emit_linear(g, inputs, weight @ matrix, bias + weight @ offset)
    return emit_mlp(g, network[1:-1], hidden)


def _to_transition(model: ContextModel, imagined: Imagination) -> tuple[Weights, Weights]:
    """The encoder's input [x, u, (x+ - x) / change scale] (normalised x, u) = matrix @ [x, u, x+] + offset in
    the planner's coordinates.
    """
    states, actions = model.states, model.actions
    ratio = to_numpy(model.state_scale) / to_numpy(model.change_scale) * imagined.scale
    width = 2 * states + actions
    matrix = np.eye(width, dtype=np.float32)
    matrix[:states, :states] = np.diag(imagined.scale)
    matrix[states + actions :, :states] = -np.diag(ratio)
    matrix[states + actions :, states + actions :] = np.diag(ratio)
    offset = np.zeros(width, np.float32)
    offset[:states] = imagined.offset
    return matrix, offset


def _emit_products(
    g: GraphBuilder, products: PairwiseProducts, inputs: str, matrix: Weights, offset: Weights
) -> str:
    """[v, v_i v_j] of v = matrix @ inputs + offset as the elementwise product of two linear maps: no
    gathering, no short rows.
    """
    rows, columns = products.rows.numpy(), products.columns.numpy()
    none = np.zeros_like(matrix)
    left, right = np.concatenate([matrix, matrix[rows]]), np.concatenate([none, matrix[columns]])
    left_offset = np.concatenate([offset, offset[rows]])
    right_offset = np.concatenate([np.ones_like(offset), offset[columns]])
    return g.op("Mul", emit_linear(g, inputs, left, left_offset), emit_linear(g, inputs, right, right_offset))


def _last_layer(model: ContextModel) -> nn.Linear:
    layer = model.encoder.transition_encoder[-1]
    assert isinstance(layer, nn.Linear)
    return layer


def _last_weight(model: ContextModel) -> Weights:
    return linear_weights(_last_layer(model))[0]


def _last_bias(model: ContextModel) -> Weights:
    return linear_weights(_last_layer(model))[1]


def _emit_entropy(g: GraphBuilder, model: ContextModel, pooled: str) -> str:
    """Entropy of the belief up to the constant that cancels in the gain: sum of log std, (n, F) -> (n,)."""
    log_std = g.op("Log", emit_belief_std(g, model, pooled))
    return g.op("ReduceSum", log_std, g.integers(1), keepdims=0)
