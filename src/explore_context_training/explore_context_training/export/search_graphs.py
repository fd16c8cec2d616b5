"""The cross-entropy method's own steps as graphs without weights, so that a whole search stays on a GPU
(supplement, algorithm 1).
"""

from __future__ import annotations

import onnx
from onnx import TensorProto

from explore_context_training.export.graph_builder import GraphBuilder
from explore_context_training.networks import ContextModel


def candidates_graph(model: ContextModel) -> onnx.ModelProto:
    """mean (H, U), std (H, U), noise (K, H, U), low (U,), high (U,) -> candidates (K, H, U), clipped."""
    g = GraphBuilder("candidates")
    mean = g.input("mean", ["H", model.actions])
    std = g.input("std", ["H", model.actions])
    noise = g.input("noise", ["K", "H", model.actions])
    low, high = g.input("low", [model.actions]), g.input("high", [model.actions])
    drawn = g.op("Add", mean, g.op("Mul", std, noise))
    g.output(g.op("Min", g.op("Max", drawn, low), high), "candidates", ["K", "H", model.actions])
    return g.model()


def refit_graph(model: ContextModel) -> onnx.ModelProto:
    """candidates (K, H, U), gain (K,), elites (1,) int64 -> mean (H, U), std (H, U) of the elites, unbiased.

    A candidate without a finite gain never counts; if none has one, the mean is not a number.
    """
    g = GraphBuilder("refit")
    candidates = g.input("candidates", ["K", "H", model.actions])
    gain = g.input("gain", ["K"])
    elites = g.input("elites", [1], TensorProto.INT64)
    bad = g.op("Or", g.op("IsNaN", gain), g.op("IsInf", gain))
    usable = g.op("Where", bad, g.constant([-3.0e38]), gain)
    scores, indices = g.ops("TopK", [usable, elites], 2, axis=0, largest=1, sorted=1)
    chosen = g.op("Gather", candidates, indices, axis=0)
    counts = g.op("Cast", g.op("Greater", scores, g.constant([-3.0e38])), to=TensorProto.FLOAT)
    weight = g.op("Unsqueeze", counts, g.integers(1, 2))
    number = g.op("ReduceSum", counts, g.integers(0), keepdims=1)
    mean = g.op("Div", g.op("ReduceSum", g.op("Mul", weight, chosen), g.integers(0), keepdims=0), number)
    deviation = g.op("Mul", weight, g.op("Sub", chosen, mean))
    squares = g.op("ReduceSum", g.op("Mul", deviation, deviation), g.integers(0), keepdims=0)
    freedom = g.op("Max", g.op("Sub", number, g.constant([1.0])), g.constant([1.0]))
    g.output(mean, "mean", ["H", model.actions])
    g.output(g.op("Sqrt", g.op("Div", squares, freedom)), "std", ["H", model.actions])
    return g.model()
