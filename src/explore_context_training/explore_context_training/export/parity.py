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
    network, samples = model.transition, len(beta)
    rows = model.normalise_action(actions.repeat_interleave(samples, dim=0))
    code = network.encode_context(beta.repeat(len(actions), 1))
    z = network.start(model.normalise_state(state.expand(len(rows), -1)))
    latents = []
    for action in rows.unbind(1):
        z = network.step(network.renewed(z), network.encode_actions(action), code)
        latents.append(z)
    means = model.to_raw(network.decode_mean(torch.stack(latents, dim=1)))
    return means.unflatten(0, (len(actions), samples))


def _literal_gain(
    model: ContextModel, state: Tensor, pooled: Tensor, beta: Tensor, actions: Tensor
) -> Tensor:
    """Equation 10 written down: predict, encode all transitions, pool, decode, difference of entropies;
    (K,).
    """
    means = _imagined(model, state, beta, actions)
    states = torch.cat([state.expand(*means.shape[:2], 1, -1), means], dim=2)
    embedded = model.embed(
        states[:, :, :-1], actions[:, None].expand(-1, len(beta), -1, -1), states[:, :, 1:]
    )
    after = model.belief(torch.maximum(embedded.amax(dim=2), pooled))[1]
    before = model.belief(pooled[None])[1]
    return before.log().sum() - after.log().sum(-1).mean(-1)


def check_parity(model: ContextModel, folder: Path) -> None:
    for name, error in parity_errors(model, folder).items():
        allowed = GAIN_TOLERANCE if name == "gain" else TOLERANCE
        if not error <= allowed:
            raise ParityError(f"graph {name!r} differs from PyTorch by {error:.2g} (allowed {allowed:g})")
