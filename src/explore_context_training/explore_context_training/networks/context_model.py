"""The whole learned model: normalisation, context encoder and transition model."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explore_context_training.networks.context_encoder import ContextEncoder
from explore_context_training.networks.transition_models import (
    GruTransitionModel,
    ResidualTransitionModel,
    TransitionModel,
)
from explore_context_training.settings import ModelSettings


@dataclass(frozen=True)
class Normalisation:
    """Offsets and scales that make states, actions and one-step changes about unit size, and the range of
    raw states; tuples of floats.

    Predictions of the residual model are kept within ``state_low`` .. ``state_high``, so that an imagined
    rollout never leaves the
    region that the model was trained on, whatever the planner tries.
    """

    state_mean: tuple[float, ...]
    state_scale: tuple[float, ...]
    action_scale: tuple[float, ...]
    change_scale: tuple[float, ...]
    state_low: tuple[float, ...]
    state_high: tuple[float, ...]

    @classmethod
    def identity(cls, states: int, actions: int) -> Normalisation:
        ones, far = (1.0,) * states, 1e6
        return cls((0.0,) * states, ones, (1.0,) * actions, ones, (-far,) * states, (far,) * states)


class ContextModel(nn.Module):
    """q(beta | C) and q(x | x_0, u, beta) on raw states and actions.

    X, U, B, F are the dimensions of state, action, belief and embedding. All outputs of the transition
    model are normalised states;
    ``to_raw`` brings means back.
    """

    def __init__(
        self, settings: ModelSettings, states: int, actions: int, normalisation: Normalisation
    ) -> None:
        super().__init__()
        self.settings = settings
        self.states, self.actions = states, actions
        self.normalisation = normalisation
        for name, value in vars(normalisation).items():
            self.register_buffer(name, torch.tensor(value, dtype=torch.float32), persistent=False)
        self.encoder = ContextEncoder(
            inputs=2 * states + actions,
            hidden=settings.encoder_hidden,
            products=settings.encoder_products,
            embedding=settings.embedding,
            belief=settings.belief,
            decoder_hidden=settings.decoder_hidden,
            monotone=settings.monotone,
            anchored=settings.anchored,
        )
        self.transition = _transition_model(
            settings,
            states,
            actions,
            self.normalise_state(self.state_low),
            self.normalise_state(self.state_high),
        )

    def normalise_state(self, state: Tensor) -> Tensor:
        return (state - self.state_mean) / self.state_scale

    def normalise_action(self, action: Tensor) -> Tensor:
        return action / self.action_scale

    def to_raw(self, state: Tensor) -> Tensor:
        return state * self.state_scale + self.state_mean

    def embed(self, state: Tensor, action: Tensor, following: Tensor) -> Tensor:
        """g_trans of raw transitions: x (..., X), u (..., U), x+ (..., X) -> (..., F).

        The network sees x+ - x instead of x+: a linear change of its input that training needs (the
        change is small against the state).
        """
        change = (following - state) / self.change_scale
        return self.encoder.embed(
            torch.cat([self.normalise_state(state), self.normalise_action(action), change], dim=-1)
        )

    def belief(self, pooled: Tensor) -> tuple[Tensor, Tensor]:
        return self.encoder.belief(pooled)

    def rollout(self, state: Tensor, actions: Tensor, beta: Tensor) -> Tensor:
        """Latent states z_1..z_H, (n, H, latent), from raw state (n, X), actions (n, H, U) and beta (n,
        B).
        """
        action_codes = self.transition.encode_actions(self.normalise_action(actions)).transpose(0, 1)
        context_code = self.transition.encode_context(beta)
        return self.transition.rollout(self.normalise_state(state), action_codes, context_code).transpose(
            0, 1
        )

    def predict(self, state: Tensor, actions: Tensor, beta: Tensor) -> Tensor:
        """Mean of q(x_{n+h} | x_n, u, beta) for h = 1..H as raw states, (n, H, X)."""
        return self.to_raw(self.transition.decode_mean(self.rollout(state, actions, beta)))


def _transition_model(
    settings: ModelSettings, states: int, actions: int, low: Tensor, high: Tensor
) -> TransitionModel:
    if settings.transition == "gru":
        return GruTransitionModel(
            states,
            actions,
            settings.belief,
            settings.latent,
            settings.hidden,
            settings.constant_variance,
            settings.variance_floor,
        )
    return ResidualTransitionModel(
        low,
        high,
        actions,
        settings.belief,
        settings.latent,
        settings.hidden,
        settings.body or settings.hidden,
        settings.layers,
        settings.modulated,
        settings.substeps,
        settings.contact,
        settings.constant_variance,
        settings.variance_floor,
    )
