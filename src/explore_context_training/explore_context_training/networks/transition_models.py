"""Transition models q(x_{n+H} | x_n, u_n..u_{n+H-1}, beta) behind one interface, so that objective,
export and planner need not know which.

A rollout is: ``start`` once (first latent state), ``encode_actions`` once per action sequence,
``encode_context`` once per
context sample, then ``step`` H times and ``decode`` all latent states in one product. Splitting the first
layer's input product this way
computes nothing twice: the action part is shared by all context samples and the context part by all steps.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from explore_context_training.networks.layers import mlp

_MEMORY_BOUND = 100.0


class TransitionModel(nn.Module):
    """Works on normalised states (..., X) and actions (..., U)."""

    latent: int

    @abstractmethod
    def start(self, state: Tensor) -> Tensor:
        """g_state: first latent state z_n, (..., latent)."""

    @abstractmethod
    def encode_actions(self, actions: Tensor) -> Tensor:
        """g_action and its share of the first product of ``step``, (..., code)."""

    @abstractmethod
    def encode_context(self, beta: Tensor) -> Tensor:
        """g_beta and its share of the first product of ``step``, (..., code)."""

    @abstractmethod
    def step(self, z: Tensor, action_code: Tensor, context_code: Tensor) -> Tensor:
        """h_RNN: z_{n+1} from z_n; the codes broadcast against each other."""

    def rollout(self, state: Tensor, action_codes: Tensor, context_code: Tensor) -> Tensor:
        """z_1..z_H (H, n, latent) from states (n, X), action codes (H, n, .) and context code (n, .)."""
        z = self.start(state)
        latents = []
        for action_code in action_codes.unbind():
            z = self.step(z, action_code, context_code)
            latents.append(z)
        return torch.stack(latents)

    @abstractmethod
    def decode_mean(self, z: Tensor) -> Tensor:
        """d_state,mu, (..., X)."""

    @abstractmethod
    def decode_variance(self, z: Tensor) -> Tensor:
        """d_state,sigma2, (..., X)."""

    def renewed(self, z: Tensor) -> Tensor:
        """Latent state with which the next transition of an imagined rollout begins."""
        return z


class _VarianceDecoder(nn.Module):
    """Diagonal covariance on the state space: SoftplusOffset(floor), from z, or one learned constant (toy
    systems).
    """

    def __init__(self, latent: int, hidden: int, states: int, constant: bool, floor: float) -> None:
        super().__init__()
        self.floor = floor
        self.network: nn.Module | None = None
        if constant:
            self.constant = nn.Parameter(torch.zeros(states))
        else:
            self.network = mlp([latent, hidden, states])

    def forward(self, z: Tensor) -> Tensor:
        if self.network is None:
            return (functional.softplus(self.constant) + self.floor).expand(*z.shape[:-1], -1)
        return functional.softplus(self.network(z)) + self.floor


class GruTransitionModel(TransitionModel):
    """The paper's transition model: encoders lift x, u and beta to an embedding space in which a GRU cell
    is the dynamics.
    """

    def __init__(
        self,
        states: int,
        actions: int,
        belief: int,
        embedding: int,
        hidden: int,
        constant_variance: bool,
        variance_floor: float,
    ) -> None:
        super().__init__()
        self.latent = embedding
        self.state_encoder = mlp([states, hidden, embedding])
        self.action_encoder = mlp([actions, hidden, embedding])
        self.context_encoder = mlp([belief, hidden, embedding])
        self.cell = nn.GRUCell(2 * embedding, embedding)
        self.mean_decoder = mlp([embedding, hidden, states])
        self.variance_decoder = _VarianceDecoder(embedding, hidden, states, constant_variance, variance_floor)

    def start(self, state: Tensor) -> Tensor:
        return torch.tanh(self.state_encoder(state))

    def encode_actions(self, actions: Tensor) -> Tensor:
        weight = self.cell.weight_ih[:, : self.latent]
        return functional.linear(functional.relu(self.action_encoder(actions)), weight, self.cell.bias_ih)

    def encode_context(self, beta: Tensor) -> Tensor:
        weight = self.cell.weight_ih[:, self.latent :]
        return functional.linear(functional.relu(self.context_encoder(beta)), weight)

    def step(self, z: Tensor, action_code: Tensor, context_code: Tensor) -> Tensor:
        """The GRU cell of torch.nn.GRUCell, written out because its input product is already in the codes."""
        input_reset, input_update, input_new = (action_code + context_code).chunk(3, dim=-1)
        hidden_reset, hidden_update, hidden_new = functional.linear(
            z, self.cell.weight_hh, self.cell.bias_hh
        ).chunk(3, dim=-1)
        reset = torch.sigmoid(input_reset + hidden_reset)
        update = torch.sigmoid(input_update + hidden_update)
        new = torch.tanh(input_new + reset * hidden_new)
        return new + update * (z - new)

    def decode_mean(self, z: Tensor) -> Tensor:
        return self.mean_decoder(z)

    def decode_variance(self, z: Tensor) -> Tensor:
        return self.variance_decoder(z)


class ContactReset(nn.Module):
    """What hitting a bound does to the rest of the state: a car that reaches a wall stops.

    If entry i of z would leave its bounds, every other entry j moves by the fraction sigmoid(4 strength_ij)
    towards target_ij. Whether a bound is hit is a hard decision on the unbounded prediction, which a smooth
    network would have to imitate with very steep slopes; the strengths start near zero (no effect) and are
    learned.
    """

    def __init__(self, latent: int) -> None:
        super().__init__()
        # Steep, because Adam moves a parameter by about the learning rate: from no effect to full takes 8
        # units of the sigmoid's argument.
        self.strength = nn.Parameter(torch.full((latent, latent), -1.0))
        self.target = nn.Parameter(torch.zeros(latent, latent))
        self.register_buffer("others", 1.0 - torch.eye(latent), persistent=False)

    def weights(self) -> tuple[Tensor, Tensor]:
        """Fractions and fractions times targets, (latent, latent), row i: bound i is hit."""
        fraction = torch.sigmoid(4.0 * self.strength) * self.others
        return fraction, fraction * self.target

    def forward(self, z: Tensor, bounded: Tensor) -> Tensor:
        """``z``: as predicted, ``bounded``: the same within its bounds."""
        hit = (z != bounded).to(z.dtype)
        fraction, target = self.weights()
        return bounded * (1.0 - (hit @ fraction).clamp(max=1.0)) + hit @ target


class ResidualTransitionModel(TransitionModel):
    """Dynamics in the state space itself, z = [x, m]: x+ = x + f(x, m, u, beta), with a small memory m
    that carries uncertainty.

    The mean needs no decoder and no reconstruction: it is the first part of z, kept within [low, high] (X,).
    The variance is decoded from all of z.

    ``modulated``: the context also scales the last hidden layer. What it changes is often a coefficient (of
    the motor in a quadrant, of the slope at a place): the layers below can learn once, for all systems, where
    each coefficient acts.
    ``substeps``: f is applied this often in a transition, as a simulator does that holds an action for some
    of its own steps; a switch in the dynamics is then one of the state alone.
    """

    def __init__(
        self,
        low: Tensor,
        high: Tensor,
        actions: int,
        belief: int,
        memory: int,
        hidden: int,
        body: int,
        layers: int,
        modulated: bool,
        substeps: int,
        contact: bool,
        constant_variance: bool,
        variance_floor: float,
    ) -> None:
        super().__init__()
        self.substeps = substeps
        self.states = states = len(low)
        self.latent = states + memory
        # Far beyond what a trained memory holds, but finite: a rollout can never overflow.
        wide = torch.full((memory,), _MEMORY_BOUND)
        self.register_buffer("low", torch.cat([low, -wide]), persistent=False)
        self.register_buffer("high", torch.cat([high, wide]), persistent=False)
        self.action_encoder = mlp([actions, 64, hidden])
        self.context_encoder = mlp([belief, hidden, hidden])
        self.context_factors = mlp([belief, hidden, body]) if modulated else None
        if self.context_factors is not None:
            _start_around(self.context_factors[-1], 0.5)
        # Of the context's code: what is added in the first layer, factors of the last hidden layer.
        self.code_widths = (hidden, body) if modulated else (hidden,)
        self.input = nn.Linear(self.latent, hidden)
        self.body = mlp([hidden] + [body] * (layers - 1) + [self.latent])
        for layer in self.body[:-1]:
            if isinstance(layer, nn.Linear):  # five layers of PyTorch's own start would lose the action
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        # Steps are small against the state: start near the identity, so that long rollouts are stable
        # from the first update on.
        self.step_scale = nn.Parameter(torch.full((self.latent,), 0.2))
        self.contact = ContactReset(self.latent) if contact else None
        self.variance_decoder = _VarianceDecoder(self.latent, 64, states, constant_variance, variance_floor)

    def start(self, state: Tensor) -> Tensor:
        memory = torch.zeros_like(state[..., :1]).expand(*state.shape[:-1], self.latent - self.states)
        return torch.cat([state, memory], dim=-1)

    def encode_actions(self, actions: Tensor) -> Tensor:
        return self.action_encoder(actions)

    def encode_context(self, beta: Tensor) -> Tensor:
        """What is added to the first layer and, ``modulated``, factors of the last hidden one in (-2, 2)."""
        added = self.context_encoder(beta)
        if self.context_factors is None:
            return added
        return torch.cat([added, 2.0 * torch.tanh(0.5 * self.context_factors(beta))], dim=-1)

    def step(self, z: Tensor, action_code: Tensor, context_code: Tensor) -> Tensor:
        added, *factors = context_code.split(self.code_widths, dim=-1)
        code = action_code + added
        for _ in range(self.substeps):
            z = self._substep(z, code, factors)
        return z

    def _substep(self, z: Tensor, code: Tensor, factors: list[Tensor]) -> Tensor:
        hidden = self.body[:-1](functional.relu(self.input(z) + code))
        for factor in factors:
            hidden = hidden * factor
        following = z + self.step_scale * self.body[-1](hidden)
        bounded = self._bounded(following)
        return bounded if self.contact is None else self._bounded(self.contact(following, bounded))

    def _bounded(self, z: Tensor) -> Tensor:
        return torch.minimum(torch.maximum(z, self.low), self.high)

    def decode_mean(self, z: Tensor) -> Tensor:
        return z[..., : self.states]

    def decode_variance(self, z: Tensor) -> Tensor:
        return self.variance_decoder(z)

    def renewed(self, z: Tensor) -> Tensor:
        """Without the memory: knowing how uncertain a long rollout is, the network predicts averages of what
        may happen, and two averages in a row are no transition that any system makes. An encoder reads more
        from them than a real one tells, and a controller balances an average.
        """
        return self.start(self.decode_mean(z))


def _start_around(layer: nn.Module, centre: float) -> None:
    """Let a layer start near a constant: smaller weights, biases within half a unit of ``centre``."""
    assert isinstance(layer, nn.Linear)
    with torch.no_grad():
        layer.weight.mul_(0.5)
        layer.bias.uniform_(centre - 0.5, centre + 0.5)
