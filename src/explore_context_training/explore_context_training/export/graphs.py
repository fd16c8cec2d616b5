"""The exported graphs: context encoder, belief decoders, one-step and multi-step transition model.
Batches are dynamic, values raw.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx

from explore_context_training.export.emitters import (
    emit_belief_mean,
    emit_belief_std,
    emit_embedding,
    emit_normalised_action,
    emit_normalised_state,
    emit_raw_state,
    to_numpy,
    transition_emitter,
)
from explore_context_training.export.graph_builder import GraphBuilder
from explore_context_training.export.planner_graphs import gain_graph, imagine_graph
from explore_context_training.export.search_graphs import candidates_graph, refit_graph
from explore_context_training.networks import ContextModel


def encoder_graph(model: ContextModel) -> onnx.ModelProto:
    """state (n, X), action (n, U), following (n, X) -> embedding (n, F)."""
    g = GraphBuilder("encoder")
    state = g.input("state", ["n", model.states])
    action = g.input("action", ["n", model.actions])
    following = g.input("following", ["n", model.states])
    change = g.op("Mul", g.op("Sub", following, state), g.constant(1.0 / to_numpy(model.change_scale)))
    embedding = emit_embedding(
        g, model, emit_normalised_state(g, model, state), emit_normalised_action(g, model, action), change
    )
    g.output(embedding, "embedding", ["n", model.settings.embedding])
    return g.model()


def belief_graph(model: ContextModel) -> onnx.ModelProto:
    """Max-pooled embedding (n, F) -> mean (n, B), std (n, B)."""
    g = GraphBuilder("belief")
    pooled = g.input("pooled", ["n", model.settings.embedding])
    g.output(emit_belief_mean(g, model, pooled), "mean", ["n", model.settings.belief])
    g.output(emit_belief_std(g, model, pooled), "std", ["n", model.settings.belief])
    return g.model()


def step_graph(model: ContextModel) -> onnx.ModelProto:
    """state (n, X), action (n, U), beta (n, B) -> mean (n, X), variance (n, X) of the next state."""
    g = GraphBuilder("step")
    emitter = transition_emitter(model)
    state = g.input("state", ["n", model.states])
    action = g.input("action", ["n", model.actions])
    beta = g.input("beta", ["n", model.settings.belief])
    action_code = emitter.action_code(g, emit_normalised_action(g, model, action))
    first = emitter.start(g, emit_normalised_state(g, model, state))
    z = emitter.step(g, first, action_code, emitter.context_code(g, beta))
    g.output(emit_raw_state(g, model, emitter.mean(g, z)), "mean", ["n", model.states])
    g.output(_emit_raw_variance(g, model, emitter.variance(g, z)), "variance", ["n", model.states])
    return g.model()


def rollout_graph(model: ContextModel) -> onnx.ModelProto:
    """state (n, X), actions (n, H, U), beta (n, B) -> mean (n, H, X), variance (n, H, X); n and H dynamic."""
    g = GraphBuilder("rollout")
    emitter = transition_emitter(model)
    state = g.input("state", ["n", model.states])
    actions = g.input("actions", ["n", "H", model.actions])
    beta = g.input("beta", ["n", model.settings.belief])
    z = emitter.start(g, emit_normalised_state(g, model, state))
    context_code = emitter.context_code(g, beta)

    body = GraphBuilder("rollout_step", "step_")
    z_in = body.input("z", ["n", emitter.latent])
    code_in = body.input("context_code", ["n", emitter.context_width()])
    action_in = body.input("action", ["n", model.actions])
    action_code = emitter.action_code(body, emit_normalised_action(body, model, action_in))
    following = emitter.step(body, z_in, action_code, code_in)
    body.output(following, "z_next", ["n", emitter.latent])
    body.output(code_in, "context_code_next", ["n", emitter.context_width()])
    body.output(emit_raw_state(body, model, emitter.mean(body, following)), "mean", ["n", model.states])
    body.output(
        _emit_raw_variance(body, model, emitter.variance(body, following)), "variance", ["n", model.states]
    )
    _, _, mean, variance = g.scan(body, [z, context_code], [actions], outputs=2)
    g.output(mean, "mean", ["n", "H", model.states])
    g.output(variance, "variance", ["n", "H", model.states])
    return g.model()


def _emit_raw_variance(g: GraphBuilder, model: ContextModel, variance: str) -> str:
    return g.op("Mul", variance, g.constant(to_numpy(model.state_scale) ** 2))


GRAPHS: dict[str, Callable[[ContextModel], onnx.ModelProto]] = {
    "encoder": encoder_graph,
    "belief": belief_graph,
    "step": step_graph,
    "rollout": rollout_graph,
    "gain": gain_graph,
    "imagine": imagine_graph,
    "candidates": candidates_graph,
    "refit": refit_graph,
}
