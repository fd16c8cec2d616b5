"""The paper's loss written down literally: the yardstick for ``objective`` in tests and the baseline of
``./ws bench training``.

Every term evaluates the networks by itself, one time step after the other, with ``torch.nn.GRUCell`` on
the concatenation of action and
context code; every context set is padded to the largest size. Slow on purpose; nothing else uses it.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from explore_context_training.networks import ContextModel
from explore_context_training.networks.transition_models import GruTransitionModel
from explore_context_training.objective import TensorBatch
from explore_context_training.settings import ObjectiveSettings


def reference_step(model: ContextModel, z: Tensor, action: Tensor, beta: Tensor) -> Tensor:
    """z_{n+1} = h_RNN(z_n, [g_action(u_n), g_beta(beta)])."""
    network = model.transition
    action = model.normalise_action(action)
    if isinstance(network, GruTransitionModel):
        action_code = functional.relu(network.action_encoder(action))
        context_code = functional.relu(network.context_encoder(beta))
        return network.cell(torch.cat([action_code, context_code], dim=-1), z)
    return network.step(z, network.encode_actions(action), network.encode_context(beta))


def reference_log_likelihood(model: ContextModel, z: Tensor, state: Tensor) -> Tensor:
    """log q(x | z), (n,)."""
    mean, variance = model.transition.decode_mean(z), model.transition.decode_variance(z)
    normal = torch.distributions.Normal(mean, variance.sqrt())
    return normal.log_prob(model.normalise_state(state)).sum(-1)


def start(model: ContextModel, state: Tensor) -> Tensor:
    return model.transition.start(model.normalise_state(state))


def reference_multi_step(model: ContextModel, batch: TensorBatch, beta: Tensor) -> Tensor:
    """J_ms = sum_{h=2}^{H} log q(x_{n+h} | x_n, u_{n:n+h-1}, beta), (n,)."""
    z = start(model, batch.states[:, 0])
    total = torch.zeros(len(beta))
    for h in range(1, batch.actions.shape[1] + 1):
        z = reference_step(model, z, batch.actions[:, h - 1], beta)
        if h >= 2:
            total = total + reference_log_likelihood(model, z, batch.states[:, h])
    return total


def reference_single_step(model: ContextModel, batch: TensorBatch, beta: Tensor) -> Tensor:
    """J_ss = sum_{h=0}^{H-1} log q(x_{n+h+1} | x_{n+h}, u_{n+h}, beta), (n,)."""
    total = torch.zeros(len(beta))
    for h in range(batch.actions.shape[1]):
        z = reference_step(model, start(model, batch.states[:, h]), batch.actions[:, h], beta)
        total = total + reference_log_likelihood(model, z, batch.states[:, h + 1])
    return total


def reference_reconstruction(model: ContextModel, batch: TensorBatch) -> Tensor:
    """J_rec = sum_{h=0}^{H} log q(x_{n+h} | x_{n+h}), (n,)."""
    total = torch.zeros(len(batch.states))
    for h in range(batch.states.shape[1]):
        total = total + reference_log_likelihood(model, start(model, batch.states[:, h]), batch.states[:, h])
    return total


def reference_beliefs(
    model: ContextModel, batch: TensorBatch
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """(mean, std) of q(beta | C) and of q(beta | D u C); sets are padded and the padding is masked."""
    n, most = len(batch.states), batch.context[0].shape[1]
    half = n // 2
    columns = torch.arange(most)
    first = columns < batch.split[:, None]
    member = torch.cat([first, ~first])  # (n, M)
    rows = [tensor.repeat(2, 1, 1) for tensor in batch.context]
    assert len(rows[0]) == 2 * half
    embedded = torch.where(member[..., None], model.embed(*rows), 0.0)
    context = embedded.amax(1) if most else torch.zeros(n, model.settings.embedding)
    target = model.embed(batch.states[:, :-1], batch.actions, batch.states[:, 1:]).amax(1)
    return model.belief(context), model.belief(torch.maximum(context, target))


def reference_loss(
    model: ContextModel, batch: TensorBatch, kl_weight: float, objective: ObjectiveSettings
) -> tuple[Tensor, dict[str, Tensor]]:
    """L = -J + L_KL averaged over the batch, and its terms."""
    prior, posterior = reference_beliefs(model, batch)
    beta = posterior[0] + posterior[1] * batch.noise
    horizon = batch.actions.shape[1]
    averaged = objective.single_step_reduction == "mean"
    terms = {
        "multi_step": reference_multi_step(model, batch, beta).mean(),
        "single_step": reference_single_step(model, batch, beta).mean() / (horizon if averaged else 1),
        "reconstruction": reference_reconstruction(model, batch).mean() / (horizon + 1 if averaged else 1),
        "kl": torch.stack(
            [_scalar_kl(posterior, prior, i).clamp(min=objective.kl_floor) for i in range(beta.shape[1])]
        )
        .sum(0)
        .mean(),
    }
    empty = model.belief(torch.zeros(1, model.settings.embedding))
    unit = (torch.zeros_like(empty[0]), torch.ones_like(empty[1]))
    terms["empty_kl"] = torch.stack([_scalar_kl(empty, unit, i) for i in range(beta.shape[1])]).sum()
    evidence = terms["multi_step"] + terms["single_step"] + terms["reconstruction"] - kl_weight * terms["kl"]
    return -evidence + objective.empty_context_weight * terms["empty_kl"], terms


def _scalar_kl(q: tuple[Tensor, Tensor], p: tuple[Tensor, Tensor], i: int) -> Tensor:
    """KL(N(m, s^2) || N(m', s'^2)) of dimension i, (n,)."""
    (m, s), (m_p, s_p) = ((belief[0][:, i], belief[1][:, i]) for belief in (q, p))
    return (s_p.log() - s.log()) + (s**2 + (m - m_p) ** 2) / (2 * s_p**2) - 0.5
