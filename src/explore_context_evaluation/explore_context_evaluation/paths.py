"""Where evaluation finds models and leaves reports: the checkout."""

from __future__ import annotations

from pathlib import Path


def workspace() -> Path:
    """The checkout: the nearest folder above this file that holds ``models``."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "models").is_dir() and (folder / "config").is_dir():
            return folder
    raise FileNotFoundError("no checkout with models/ above the installed package; run from a checkout")


def model_folder(name: str) -> Path:
    return workspace() / "models" / name
