"""Which learned models there are: read from the manifests, not from folder names."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explore_context.model import ContextModel, Manifest, ModelError, SessionSettings, load_manifest
from explore_context.plants import get_plant


@dataclass(frozen=True)
class ModelReference:
    """Names one exported model. Small enough to travel to a worker, which opens it there."""

    folder: str
    model_hash: str
    plant: str
    monotone: bool
    variant: str
    seed: int
    recipe: str
    step: int

    @property
    def name(self) -> str:
        return Path(self.folder).name


@dataclass(frozen=True)
class Catalogue:
    """All models of one folder; ``choose`` picks those that belong to one curve of the paper."""

    root: Path
    models: tuple[ModelReference, ...]

    def choose(self, plant: str, limit: int, monotone: bool = True) -> tuple[ModelReference, ...]:
        """Up to ``limit`` models of the plant: the shipped one first, then others of its architecture with
        other training seeds.
        """
        fitting = [m for m in self.models if m.plant == plant and m.monotone == monotone]
        fitting.sort(key=lambda m: (m.name != plant, m.seed, m.name))
        chosen: dict[int, ModelReference] = {}
        for model in fitting:
            if not chosen or model.variant == next(iter(chosen.values())).variant:
                chosen.setdefault(model.seed, model)
        return tuple(chosen.values())[:limit]

    def missing(self, plant: str, monotone: bool = True) -> str:
        """What to say where ``choose`` finds nothing."""
        what = "" if monotone else " without the monotone variance"
        return f"no model of {plant}{what} in {self.root.name}/"


def find_models(root: Path) -> Catalogue:
    """Read every ``manifest.yaml`` one level below ``root``; a damaged one is left out with a warning."""
    if not root.is_dir():
        raise ModelError(f"{root}: no such folder; name the folder that holds the exported models")
    found = []
    for path in sorted(root.glob("*/manifest.yaml")):
        try:
            found.append(_reference(path.parent, load_manifest(path.parent)))
        except ModelError as error:
            warnings.warn(f"left out: {error}", stacklevel=2)
    if not found:
        raise ModelError(f"{root}: holds no models; name the folder above theirs, or export one")
    return Catalogue(root, tuple(found))


def _reference(folder: Path, manifest: Manifest) -> ModelReference:
    training = manifest.training
    return ModelReference(
        folder=str(folder.resolve()),
        model_hash=manifest.model_hash,
        plant=manifest.plant,
        monotone=manifest.monotone,
        variant=manifest.variant,
        seed=int(training.get("seed", 0)),
        recipe=str(training.get("recipe", "")),
        step=int(training.get("step", 0)),
    )


@functools.lru_cache(maxsize=8)
def load_model(reference: ModelReference) -> ContextModel:
    """Open the model, once per process; one thread, as every core already has a worker of its own."""
    plant = get_plant(reference.plant)
    model = ContextModel.load(reference.folder, SessionSettings(provider="cpu", threads=1), plant.spec)
    if model.model_hash != reference.model_hash:
        raise ModelError(f"{reference.folder}: the model was replaced during the evaluation; start it again")
    return model


def describe(models: Sequence[ModelReference]) -> list[dict[str, object]]:
    """For results.json."""
    return [
        {
            "name": m.name,
            "plant": m.plant,
            "hash": m.model_hash,
            "monotone": m.monotone,
            "recipe": m.recipe,
            "seed": m.seed,
            "step": m.step,
        }
        for m in models
    ]
