"""Building blocks shared by the encoders, the dynamics and the decoders."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional


class NonNegativeLinear(nn.Linear):
    """The supplement's ReluLinear: y = relu(W) x + b, monotone in every input.

    Weights start non-negative: a negative one would have no gradient and never come back to life.
    """

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():
            self.weight.abs_()

    def forward(self, inputs: Tensor) -> Tensor:
        return functional.linear(inputs, functional.relu(self.weight), self.bias)


class PairwiseProducts(nn.Module):
    """Append all products v_i v_j, i <= j, to the features v: (..., D) -> (..., D + D(D+1)/2).

    The factor that the pendulum's context hides is a product of inputs (residual times action in a
    quadrant), which one hidden layer approximates poorly.
    """

    def __init__(self, inputs: int) -> None:
        super().__init__()
        rows, columns = torch.triu_indices(inputs, inputs)
        self.register_buffer("rows", rows, persistent=False)
        self.register_buffer("columns", columns, persistent=False)
        self.outputs = inputs + len(rows)

    def forward(self, features: Tensor) -> Tensor:
        products = features[..., self.rows] * features[..., self.columns]
        return torch.cat([features, products], dim=-1)


def mlp(
    sizes: Sequence[int], linear: type[nn.Linear] = nn.Linear, activation: type[nn.Module] = nn.ReLU
) -> nn.Sequential:
    """Linear layers of the given sizes with an activation between them (none at the end)."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])
