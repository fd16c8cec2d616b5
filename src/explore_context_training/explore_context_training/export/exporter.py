"""From a checkpoint to a model folder: ONNX graphs, manifest and learning curve."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

import onnx

from explore_context.model.manifest import FORMAT, Manifest, file_hash, graph_path
from explore_context.plants import get_plant
from explore_context_training.checkpoint import Checkpoint
from explore_context_training.export.graph_builder import OPSET
from explore_context_training.export.graphs import GRAPHS
from explore_context_training.export.parity import check_parity

CURVE = "curve.jsonl"


def export_checkpoint(checkpoint: Checkpoint, folder: Path, curve: Path | None = None) -> Manifest:
    """Write ``folder`` anew; it appears whole or not at all. Every graph is compared with PyTorch before
    anything is written.
    """
    model = checkpoint.build_model().eval()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
        partial = Path(temporary) / folder.name
        partial.mkdir()
        for name, build in GRAPHS.items():
            onnx.save_model(build(model), str(graph_path(partial, name)))
        check_parity(model, partial)
        manifest = _manifest(checkpoint, partial)
        manifest.save(partial)
        if curve is not None and curve.is_file():
            shutil.copy(curve, partial / CURVE)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    return manifest


def _manifest(checkpoint: Checkpoint, folder: Path) -> Manifest:
    spec = get_plant(checkpoint.record.plant).spec
    settings, record = checkpoint.settings.model, checkpoint.record
    return Manifest(
        format=FORMAT,
        plant=spec.name,
        variant=settings.transition,
        monotone=settings.monotone,
        period=spec.dt,
        state_names=spec.observation_names,
        action_low=spec.action_low,
        action_high=spec.action_high,
        dimensions={
            "state": spec.observation_dim,
            "action": spec.action_dim,
            "belief": settings.belief,
            "embedding": settings.embedding,
        },
        normalisation={name: list(values) for name, values in asdict(checkpoint.normalisation).items()},
        opset=OPSET,
        files={name: file_hash(graph_path(folder, name)) for name in GRAPHS},
        training={**asdict(record), "settings": asdict(checkpoint.settings)},
        evaluation={},
    )
