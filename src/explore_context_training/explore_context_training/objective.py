"""The training objective (section 3, 'Evidence maximization'), one named function per term.

L = -J + L_KL
J = E_{beta ~ q(. | D u C)} [J_ms + J_ss + J_rec] - lambda_KL KL(q(. | D u C) || q(. | C))    (equation 9)

All terms are in nats, per batch element unless a docstring says otherwise, on *normalised* states. The
transition model's products are shared: actions are encoded once for the multi-step and the single-step term,
the context once per chunk, and all latent states of a term are decoded together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explore_context_training.networks import ContextModel
from explore_context_training.networks.transition_models import TransitionModel
from explore_context_training.settings import ObjectiveSettings, StageSettings, at


@dataclass(frozen=True)
class TensorBatch:
    """``data.Batch`` as tensors on the training device; see there for shapes and for how context sets
    share rows.
    """

    states: Tensor
    actions: Tensor
    context: tuple[Tensor, Tensor, Tensor]
    split: Tensor
    noise: Tensor


@dataclass(frozen=True)
class Belief:
    """A diagonal Gaussian, mean and std (n, B)."""

    mean: Tensor
    std: Tensor


def gaussian_log_likelihood(value: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    """log N(value | mean, diag(variance)), summed over the last dimension."""
    return -0.5 * ((value - mean) ** 2 / variance + variance.log() + math.log(2 * math.pi)).sum(-1)


def multi_step_log_likelihood(model: TransitionModel, latents: Tensor, states: Tensor) -> Tensor:
    """J_ms = sum_{h=2}^{H} log q(x_{n+h} | x_n, u_{n:n+h-1}, beta); latents z_1..z_H (H, n, .), states
    x_n..x_{n+H} (H+1, n, X).
    """
    z = latents[1:]
    return gaussian_log_likelihood(states[2:], model.decode_mean(z), model.decode_variance(z)).sum(0)


def single_step_log_likelihood(model: TransitionModel, latents: Tensor, following: Tensor) -> Tensor:
    """Terms of J_ss = sum_{h=0}^{H-1} log q(x_{n+h+1} | x_{n+h}, u_{n+h}, beta), (points, n): latents are one
    step after g_state(x_{n+h}).
    """
    return gaussian_log_likelihood(following, model.decode_mean(latents), model.decode_variance(latents))


def reconstruction_log_likelihood(model: TransitionModel, first: Tensor, states: Tensor) -> Tensor:
    """Terms of J_rec = sum_{h=0}^{H} log q(x_{n+h} | g_state(x_{n+h})), (points, n)."""
    return gaussian_log_likelihood(states, model.decode_mean(first), model.decode_variance(first))


def scaled_squared_error(model: TransitionModel, latents: Tensor, states: Tensor) -> Tensor:
    """Beyond the paper: squared error over the predicted standard deviation (held fixed), summed over the
    last dimension.

    The likelihood divides by the variance, so transitions that are already precise outweigh the rare ones on
    a boundary (a change of quadrant, a wall) that make most of the error. One power less gives these a say.
    With beta the mean of q(. | C) it asks for what the model is used for, the prediction from a calibration;
    the likelihood asks for it only by the KL.
    """
    error = states - model.decode_mean(latents)
    return (error**2 / model.decode_variance(latents).detach().sqrt()).sum(-1)


def gaussian_kl(q: Belief, p: Belief) -> Tensor:
    """KL(q || p) of scalar Gaussians, dimension by dimension, (n, B)."""
    ratio = (q.std / p.std) ** 2
    return 0.5 * (ratio + ((q.mean - p.mean) / p.std) ** 2 - 1.0 - ratio.log())


def clipped_kl(q: Belief, p: Belief, floor: float) -> Tensor:
    """KL(q || p) with the KL of each dimension clipped at a minimum (supplement, 'Optimization'), (n,)."""
    return gaussian_kl(q, p).clamp(min=floor).sum(-1)


def empty_context_kl(model: ContextModel) -> Tensor:
    """L_KL = KL(q(beta | {}) || N(0, I)), a scalar."""
    mean, std = model.belief(torch.zeros(1, model.settings.embedding, device=model.state_mean.device))
    return gaussian_kl(Belief(mean, std), Belief(torch.zeros_like(mean), torch.ones_like(std))).sum()


def pool_context(model: ContextModel, batch: TensorBatch) -> Tensor:
    """Max-pooled embedding z_beta of the context sets, (n, F); an empty set gives zeros."""
    embedded = model.embed(*batch.context)  # (n/2, M, F)
    if embedded.shape[1] == 0:
        return embedded.new_zeros(len(batch.states), embedded.shape[2])
    columns = torch.arange(embedded.shape[1], device=embedded.device)
    first = (columns < batch.split[:, None])[..., None]
    # Embeddings are non-negative: a zero never wins the maximum, so it may stand for 'not in this set'.
    return torch.cat([(embedded * first).amax(1), (embedded * ~first).amax(1)])


def context_beliefs(model: ContextModel, batch: TensorBatch) -> tuple[Belief, Belief]:
    """q(beta | C) and q(beta | D u C)."""
    context = pool_context(model, batch)
    target = model.embed(batch.states[:, :-1], batch.actions, batch.states[:, 1:]).amax(1)
    return Belief(*model.belief(context)), Belief(*model.belief(torch.maximum(context, target)))


def loss_and_terms(
    model: ContextModel,
    batch: TensorBatch,
    stage: StageSettings,
    progress: float,
    objective: ObjectiveSettings,
    points: Tensor | None,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss L averaged over the batch, and its terms for display.

    ``points``: steps of the chunk on which single-step and reconstruction terms are evaluated (None:
    all); sums are scaled accordingly.
    """
    prior, posterior = context_beliefs(model, batch)
    belief = posterior if stage.posterior else prior
    beta = belief.mean + belief.std * batch.noise if stage.sample_belief else belief.mean

    # Time comes first from here on: a step then reads and writes contiguous rows, and unbind costs
    # nothing in the backward pass.
    transition = model.transition
    states = model.normalise_state(batch.states).transpose(0, 1).contiguous()
    actions = model.normalise_action(batch.actions).transpose(0, 1).contiguous()
    horizon = len(actions)
    action_codes = transition.encode_actions(actions)
    context_code = transition.encode_context(beta)

    path = transition.rollout(states[0], action_codes, context_code)
    multi_step = multi_step_log_likelihood(transition, path, states).mean()

    first = transition.start(states if points is None else states[points])
    following = states[1:] if points is None else states[points + 1]
    codes = action_codes if points is None else action_codes[points]
    after_one = transition.step(first[:horizon], codes, context_code)
    single_step = single_step_log_likelihood(transition, after_one, following).mean()
    summed = objective.single_step_reduction == "sum"
    terms = {"multi_step": multi_step, "single_step": (horizon if summed else 1) * single_step}
    log_likelihood = terms["multi_step"] + terms["single_step"]
    if objective.reconstruction:
        here = states if points is None else states[points]
        reconstruction = reconstruction_log_likelihood(transition, first, here).mean()
        terms["reconstruction"] = (horizon + 1 if summed else 1) * reconstruction
        log_likelihood = log_likelihood + terms["reconstruction"]
    loss = -log_likelihood
    if stage.sample_belief and stage.posterior:
        terms["kl"] = clipped_kl(posterior, prior, objective.kl_floor).mean()
        loss = loss + at(stage.kl_weight, progress) * terms["kl"]
    if not model.settings.anchored:
        terms["empty_kl"] = empty_context_kl(model)
        loss = loss + objective.empty_context_weight * terms["empty_kl"]
    if stage.squared_error_weight:
        if stage.squared_error_given == "context":
            half = slice(len(beta) // 2)  # enough, and half the cost
            states, action_codes = states[:, half], action_codes[:, half]
            first, codes, following = first[:, half], codes[:, half], following[:, half]
            given = transition.encode_context(prior.mean[half])
            path = transition.rollout(states[0], action_codes, given)
            after_one = transition.step(first[:horizon], codes, given)
        error = scaled_squared_error(transition, path, states[1:]).mean()
        error = error + scaled_squared_error(transition, after_one, following).mean()
        terms["squared_error"] = horizon * error
        loss = loss + stage.squared_error_weight * terms["squared_error"]
    return loss, terms
