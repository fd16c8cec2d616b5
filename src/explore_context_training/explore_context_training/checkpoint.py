"""Checkpoints as safetensors (never pickle): weights, optimiser state and, as JSON metadata, all that is
needed to go on or to export.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from explore_context.plants import get_plant
from explore_context_training.networks import ContextModel, Normalisation
from explore_context_training.settings import TrainingSettings, settings_from

FILE_NAME = "checkpoint.safetensors"


class CheckpointError(RuntimeError):
    """A checkpoint is missing or unusable; the message says what to do."""


@dataclass(frozen=True)
class TrainingRecord:
    """How a model came to be; ends up in the manifest of the exported model."""

    plant: str
    recipe: str
    seed: int
    step: int
    wall_time: float
    hardware: str
    git_revision: str
    validation: dict[str, float]


@dataclass(frozen=True)
class Checkpoint:
    record: TrainingRecord
    settings: TrainingSettings
    normalisation: Normalisation
    weights: dict[str, Tensor]
    optimiser: dict[str, Tensor]

    def save(self, path: Path) -> None:
        """Write beside the target and rename: a reader or a crash never meets half a file."""
        metadata = {
            "record": json.dumps(asdict(self.record)),
            "settings": json.dumps(asdict(self.settings)),
            "normalisation": json.dumps(asdict(self.normalisation)),
        }
        tensors = {f"model.{k}": v for k, v in self.weights.items()}
        tensors |= {f"optimiser.{k}": v for k, v in self.optimiser.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        save_file({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, partial, metadata)
        os.replace(partial, path)

    @classmethod
    def load(cls, path: Path, device: torch.device | str = "cpu") -> Checkpoint:
        if not path.is_file():
            raise CheckpointError(f"{path}: no such checkpoint; train one with: python train.py <plant>")
        try:
            with safe_open(path, framework="pt", device=str(device)) as file:
                metadata = file.metadata()
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        except SafetensorError as error:
            raise CheckpointError(f"{path}: unreadable ({error}); delete it and train again") from None
        normalisation = {k: tuple(v) for k, v in json.loads(metadata["normalisation"]).items()}
        return cls(
            TrainingRecord(**json.loads(metadata["record"])),
            settings_from(json.loads(metadata["settings"]), str(path)),
            Normalisation(**normalisation),
            {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")},
            {k.removeprefix("optimiser."): v for k, v in tensors.items() if k.startswith("optimiser.")},
        )

    def build_model(self) -> ContextModel:
        spec = get_plant(self.record.plant).spec
        model = ContextModel(self.settings.model, spec.observation_dim, spec.action_dim, self.normalisation)
        model.load_state_dict(self.weights)
        return model
