"""Every exported graph computes what PyTorch computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
from torch import Tensor

from explore_context.model.manifest import graph_path
from explore_context_training.networks import ContextModel

TOLERANCE = 1e-5
# The gain is a difference of sums of logarithms after a whole imagined rollout: rounding adds up.
GAIN_TOLERANCE = 1e-4
_ROWS, _HORIZON, _SAMPLES = 33, 7, 5


class ParityError(RuntimeError):
    """An exported graph differs from the network that it was made from."""


def parity_errors(model: ContextModel, folder: Path) -> dict[str, float]:
    """Largest difference per graph, relative to the scale of the output, on random inputs of the training
    range.
    """
    torch.manual_seed(0)
    low, high = model.state_low.clamp(min=-5), model.state_high.clamp(max=5)
    state, following = (low + (high - low) * torch.rand(_ROWS, model.states) for _ in range(2))
    actions = model.action_scale * (2 * torch.rand(_ROWS, _HORIZON, model.actions) - 1)
    beta = torch.randn(_ROWS, model.settings.belief)
    noise = torch.randn_like(actions)
    scale = model.state_scale
    with torch.no_grad():
        embedding = model.embed(state, actions[:, 0], following)
        latents = model.rollout(state, actions, beta)
        means = model.to_raw(model.transition.decode_mean(latents))
        variances = model.transition.decode_variance(latents) * scale**2
        expected = {
            "encoder": [embedding],
            "belief": list(model.belief(embedding)),
            "step": [means[:, 0], variances[:, 0]],
            "rollout": [means, variances],
            "gain": [_literal_gain(model, state[0], embedding[0], beta[:_SAMPLES], actions)],
            "imagine": [_imagined(model, state[0], beta[:_SAMPLES], actions)],
            "candidates": [(actions[0] + 0.5 * noise).clamp(-1.0, 1.0)],
            "refit": [actions[:_SAMPLES].mean(dim=0), actions[:_SAMPLES].std(dim=0)],
        }
    bounds = torch.ones(model.actions)
    ranked = torch.arange(_ROWS, 0, -1, dtype=torch.float32)
    imagination = {"state": state[:1], "beta": beta[:_SAMPLES], "actions": actions}
    inputs = {
        "encoder": {"state": state, "action": actions[:, 0], "following": following},
        "belief": {"pooled": embedding},
        "step": {"state": state, "action": actions[:, 0], "beta": beta},
        "rollout": {"state": state, "actions": actions, "beta": beta},
        "gain": {**imagination, "pooled": embedding[:1]},
        "imagine": imagination,
        "candidates": {
            "mean": actions[0],
            "std": torch.full_like(actions[0], 0.5),
            "noise": noise,
            "low": -bounds,
            "high": bounds,
        },
        "refit": {"candidates": actions, "gain": ranked, "elites": torch.tensor([_SAMPLES])},
    }
    errors = {}
    for name, feeds in inputs.items():
        session = ort.InferenceSession(str(graph_path(folder, name)), providers=["CPUExecutionProvider"])
        outputs = session.run(
            None, {key: np.ascontiguousarray(value.numpy()) for key, value in feeds.items()}
        )
        errors[name] = max(
            float(np.abs(out - ref.numpy()).max() / max(1.0, np.abs(ref.numpy()).max()))
            for out, ref in zip(outputs, expected[name], strict=True)
        )
    return errors


def _imagined(model: ContextModel, state: Tensor, beta: Tensor, actions: Tensor) -> Tensor:
    """Predicted means (K, S, H, X) of every candidate under every context sample, nothing shared."""
    samples = len(beta)
    rows = actions.repeat_interleave(samples, dim=0)
    means = model.predict(state.expand(len(rows), -1), rows, beta.repeat(len(actions), 1))
    return means.unflatten(0, (len(actions), samples))


def _literal_gain(
    model: ContextModel, state: Tensor, pooled: Tensor, beta: Tensor, actions: Tensor
) -> Tensor:
    """Equation 10 written down: predict, encode all transitions, pool, decode, difference of entropies;
    (K,).
    """
    before = model.belief(pooled[None])[1]
    samples = len(beta)
    rows, context = actions.repeat_interleave(samples, dim=0), beta.repeat(len(actions), 1)
    x = state.expand(len(rows), -1)
    z, code = model.transition.start(model.normalise_state(x)), model.transition.encode_context(context)
    for action in rows.unbind(1):
        u = model.transition.encode_actions(model.normalise_action(action))
        z = model.transition.step(model.transition.renewed(z), u, code)
        following = model.to_raw(model.transition.decode_mean(z))
        pooled = torch.maximum(pooled, model.embed(x, action, following))
        x = following
    after = model.belief(pooled)[1].unflatten(0, (-1, samples))
    return before.log().sum() - after.log().sum(-1).mean(-1)


def check_parity(model: ContextModel, folder: Path) -> None:
    for name, error in parity_errors(model, folder).items():
        allowed = GAIN_TOLERANCE if name == "gain" else TOLERANCE
        if not error <= allowed:
            raise ParityError(f"graph {name!r} differs from PyTorch by {error:.2g} (allowed {allowed:g})")
