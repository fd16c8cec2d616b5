"""``python train.py <plant>``: train a model, or go on with one."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import torch
import yaml

from explore_context.plants import get_plant, plant_names
from explore_context_training.checkpoint import Checkpoint, CheckpointError
from explore_context_training.distributed import Processes
from explore_context_training.paths import default_runs, run_folder, training_config
from explore_context_training.reporting import Reporter
from explore_context_training.settings import SettingsError, load_settings
from explore_context_training.training import Run, Trainer, TrainingFailure, smoke


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="train.py", description="Train the context-conditional model of a plant."
    )
    p.add_argument("plant", help="one of " + ", ".join(plant_names()))
    p.add_argument("--recipe", default="cpu", help="settings in config/training/<plant>.yaml (default: cpu)")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    p.add_argument("--threads", type=int, default=0, help="CPU threads (default: all cores)")
    p.add_argument(
        "--runs", type=Path, default=default_runs(), help="folder of all runs (default: %(default)s)"
    )
    p.add_argument("--config", type=Path, help="settings file (default: config/training/<plant>.yaml)")
    p.add_argument("--resume", action="store_true", help="go on with the run's checkpoint")
    p.add_argument("--overwrite", action="store_true", help="start anew although the run has a checkpoint")
    p.add_argument("--minutes", type=float, help="stop after this time with a checkpoint")
    p.add_argument(
        "--smoke", action="store_true", help="seconds instead of hours, to see that everything works"
    )
    return p


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads or os.cpu_count() or 1)
    torch.set_flush_denormal(True)
    try:
        return _train(options)
    except (SettingsError, CheckpointError, TrainingFailure, ValueError, RuntimeError) as error:
        print(f"train.py: {error}", file=sys.stderr)
        return 1


def _train(options: argparse.Namespace) -> int:
    get_plant(options.plant)
    settings = load_settings(options.config or training_config(options.plant), options.recipe)
    processes = Processes()
    device = processes.device(options.device)
    folder = run_folder(options.runs, options.plant, options.recipe, options.seed)
    if options.smoke:
        settings = smoke(settings)
        folder = Path(tempfile.mkdtemp(prefix="explore_context_smoke_"))
    run = Run(options.plant, options.recipe, settings, options.seed, folder, device)
    checkpoint = _existing(run, options.resume, options.overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "command.yaml").write_text(
        yaml.safe_dump({"plant": run.plant, "recipe": run.recipe, "seed": run.seed})
    )
    processes.start(device)
    try:
        trainer = Trainer(run, processes, checkpoint)
        title = f"{run.plant} {run.recipe} seed {run.seed}"
        earlier = checkpoint.record.wall_time if checkpoint else 0.0
        with Reporter(folder, trainer.step, settings.steps, title, processes.is_first, earlier) as reporter:
            finished = trainer.train(reporter, options.minutes)
    finally:
        processes.stop()
    if processes.is_first:
        state = (
            "finished"
            if finished
            else f"stopped at step {trainer.step} of {settings.steps}; go on with --resume"
        )
        print(f"{title}: {state}\ncheckpoint: {run.checkpoint_path}")
    return 0


def _existing(run: Run, resume: bool, overwrite: bool) -> Checkpoint | None:
    if resume:
        checkpoint = Checkpoint.load(run.checkpoint_path, run.device)
        if not run.settings.continues(checkpoint.settings, checkpoint.record.step):
            raise CheckpointError(
                f"{run.checkpoint_path} was trained with other settings than the recipe has now "
                "(only stages that have not begun, learning rates and gradient_clip may change); "
                "restore the settings, or start anew with --overwrite"
            )
        return checkpoint
    if run.checkpoint_path.exists() and not overwrite:
        raise CheckpointError(
            f"{run.checkpoint_path} exists; go on with --resume or start anew with --overwrite"
        )
    return None
