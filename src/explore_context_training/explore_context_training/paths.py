"""Where settings are read and runs are kept."""

from __future__ import annotations

import os
from pathlib import Path


def workspace() -> Path:
    """The checkout: the nearest folder above this file that holds ``config/training``."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "config" / "training").is_dir():
            return folder
    raise FileNotFoundError(
        "config/training is not above the installed package; run train.py from a checkout"
    )


def training_config(plant: str) -> Path:
    return workspace() / "config" / "training" / f"{plant}.yaml"


def default_runs() -> Path:
    """Outside the checkout: checkpoints are large and survive a fresh clone."""
    return Path(os.environ.get("EXPLORE_CONTEXT_RUNS", Path.home() / "explore_context_runs"))


def run_folder(runs: Path, plant: str, recipe: str, seed: int) -> Path:
    return runs / f"{plant}-{recipe}-{seed}"
