"""The context encoder q(beta | C) (section 3, 'Context encoder'): transitions -> max-pooled embedding ->
Gaussian belief.

Guarantees that hold for any weights: permutation invariance and a constant-time update (max pooling),
and, with ``monotone``, an
entropy that never grows when transitions are added (non-negative embedding, non-negative weights).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from explore_context_training.networks.layers import NonNegativeLinear, PairwiseProducts, mlp

STD_FLOOR = 1e-2
# softplus(-0.3 g + 0.5) + 0.01: the scaled, shifted argument starts the empty-context belief near the
# unit Gaussian.
STD_SCALE = 0.3
STD_SHIFT = 0.5
# The shift at which an anchored belief has standard deviation one: softplus(shift) + floor = 1.
ANCHORED_SHIFT = math.log(math.expm1(1.0 - STD_FLOOR))


class ContextEncoder(nn.Module):
    """g_trans and the two belief decoders.

    Parameters
    ----------
    inputs:  width of a transition (x, u, x+ - x), 2X + U.
    hidden:  widths of g_trans' hidden layers; the paper's is (200,).
    products:  append pairwise products of the inputs.
    embedding, belief, decoder_hidden:  F, B and the decoders' hidden width.
    monotone:  non-negative weights in the standard-deviation decoder (False: the ablation '- Decr.
    variance').
    anchored:  subtract the decoders' outputs at z = 0, so that the empty context is the unit Gaussian
    exactly, not by penalty.
    """

    def __init__(
        self,
        inputs: int,
        hidden: tuple[int, ...],
        products: bool,
        embedding: int,
        belief: int,
        decoder_hidden: int,
        monotone: bool,
        anchored: bool,
    ) -> None:
        super().__init__()
        self.features: nn.Module = PairwiseProducts(inputs) if products else nn.Identity()
        width = self.features.outputs if isinstance(self.features, PairwiseProducts) else inputs
        self.transition_encoder = mlp([width, *hidden, embedding])
        self.mean_decoder = mlp([embedding, decoder_hidden, belief])
        linear = NonNegativeLinear if monotone else nn.Linear
        self.std_decoder = mlp([embedding, decoder_hidden, belief], linear)
        self.embedding = embedding
        self.anchored = anchored

    def embed(self, transitions: Tensor) -> Tensor:
        """g_trans: normalised transitions (..., 2X+U) -> non-negative embeddings (..., F)."""
        return functional.relu(self.transition_encoder(self.features(transitions)))

    def belief(self, pooled: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation (..., B) of q(beta | C) from the max-pooled embedding (..., F);
        zeros: empty C.
        """
        mean = self.mean_decoder(pooled)
        certainty = self.std_decoder(pooled)
        shift = STD_SHIFT
        if self.anchored:
            empty = torch.zeros_like(pooled[..., :1, :])
            mean = mean - self.mean_decoder(empty)
            certainty = certainty - self.std_decoder(empty)
            shift = ANCHORED_SHIFT
        return mean, functional.softplus(shift - STD_SCALE * certainty) + STD_FLOOR
