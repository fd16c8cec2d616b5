"""Adam as in the paper, or Muon for the hidden matrices (two to three times fewer steps to the same
error) with Adam for the rest.
"""

from __future__ import annotations

from torch import Tensor, nn, optim

from explore_context_training.settings import OptimiserSettings

# Muon orthogonalises a matrix; below this width there is little to orthogonalise and Adam does as well.
_SMALLEST_MUON_SIDE = 32


class Optimiser:
    """One or two torch optimisers that are stepped together under one learning rate."""

    def __init__(self, module: nn.Module, settings: OptimiserSettings) -> None:
        parameters = [p for p in module.parameters() if p.requires_grad]
        muon = [p for p in parameters if _is_hidden_matrix(p)] if settings.kind == "muon" else []
        adam = [p for p in parameters if not any(p is m for m in muon)]
        self._parts: list[optim.Optimizer] = [
            optim.Adam(adam, eps=settings.epsilon, weight_decay=settings.weight_decay)
        ]
        if muon:
            self._parts.append(
                optim.Muon(muon, weight_decay=settings.weight_decay, adjust_lr_fn="match_rms_adamw")
            )
        self._factors = (1.0, settings.muon_factor)
        self._clip = settings.gradient_clip
        self._parameters = parameters

    def clip(self) -> Tensor:
        """Clip the concatenated gradient; returns its norm before that."""
        return nn.utils.clip_grad_norm_(self._parameters, self._clip).detach()

    def step(self, learning_rate: float) -> None:
        """Update and clear the gradients."""
        for part, factor in zip(self._parts, self._factors, strict=False):
            for group in part.param_groups:
                group["lr"] = learning_rate * factor
            part.step()
            part.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Tensor]:
        """Flat tensors, as safetensors wants them: ``<part>.<parameter>.<name>``."""
        return {
            f"{k}.{index}.{name}": value
            for k, part in enumerate(self._parts)
            for index, entry in part.state_dict()["state"].items()
            for name, value in entry.items()
        }

    def load_state(self, tensors: dict[str, Tensor]) -> None:
        for k, part in enumerate(self._parts):
            state: dict[int, dict[str, Tensor]] = {}
            for key, value in tensors.items():
                owner, index, name = key.split(".")
                if int(owner) == k:
                    state.setdefault(int(index), {})[name] = value
            part.load_state_dict({"state": state, "param_groups": part.state_dict()["param_groups"]})


def _is_hidden_matrix(parameter: Tensor) -> bool:
    return parameter.ndim == 2 and min(parameter.shape) >= _SMALLEST_MUON_SIDE
