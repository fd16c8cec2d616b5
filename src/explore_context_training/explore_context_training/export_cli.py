"""``python export.py <plant>``: write the trained model to models/<plant>/ as ONNX with a manifest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from explore_context.plants import get_plant, plant_names
from explore_context_training.checkpoint import FILE_NAME, Checkpoint, CheckpointError
from explore_context_training.export.exporter import CURVE, export_checkpoint
from explore_context_training.paths import default_runs, run_folder, workspace


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="export.py", description="Export a trained model to ONNX with a manifest."
    )
    p.add_argument("plant", help="one of " + ", ".join(plant_names()))
    p.add_argument("--recipe", default="cpu")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument(
        "--runs", type=Path, default=default_runs(), help="folder of all runs (default: %(default)s)"
    )
    p.add_argument("--checkpoint", type=Path, help="export this file instead of a run's checkpoint")
    p.add_argument("--output", type=Path, help="model folder (default: models/<plant>)")
    return p


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        get_plant(options.plant)
        path = (
            options.checkpoint
            or run_folder(options.runs, options.plant, options.recipe, options.seed) / FILE_NAME
        )
        checkpoint = Checkpoint.load(path)
        if checkpoint.record.plant != options.plant:
            raise CheckpointError(
                f"{path} is a model of {checkpoint.record.plant!r}, not of {options.plant!r}"
            )
        output = options.output or workspace() / "models" / options.plant
        manifest = export_checkpoint(checkpoint, output, path.parent / CURVE)
    except (CheckpointError, ValueError, RuntimeError, OSError) as error:
        print(f"export.py: {error}", file=sys.stderr)
        return 1
    done, total = checkpoint.record.step, checkpoint.settings.steps
    print(f"{output}: {manifest.plant} ({manifest.variant}) {manifest.model_hash}, step {done} of {total}")
    if done < total:
        print("training had not finished: go on with train.py --resume and export again for a better model")
    return 0
