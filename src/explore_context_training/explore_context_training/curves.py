"""``python -m explore_context_training.curves models/pendulum … -o curves.svg``: draw the learning curves of
models or runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CURVE = "curve.jsonl"
SHOWN = {
    "mse_1": "1 step",
    "mse_10": "10 steps",
    "mse_20": "20 steps",
    "mse_1_without_context": "1 step, no inference",
}


def load_curve(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / CURVE).read_text().splitlines()]


def draw(folders: list[Path], output: Path) -> None:
    """One panel per folder: error on unseen systems over training steps, by prediction horizon."""
    figure, axes = plt.subplots(1, len(folders), figsize=(4.2 * len(folders), 3.2), squeeze=False)
    for axis, folder in zip(axes[0], folders, strict=True):
        curve = load_curve(folder)
        for key, label in SHOWN.items():
            axis.semilogy([p["step"] for p in curve], [p[key] for p in curve], label=label, lw=1.2)
        axis.set(title=folder.name, xlabel="step", ylabel="mean squared error")
        axis.grid(alpha=0.3)
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(output)


def main(arguments: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="curves", description="Draw the learning curves of models or runs.")
    p.add_argument("folders", nargs="+", type=Path, help=f"folders that hold a {CURVE}")
    p.add_argument("-o", "--output", type=Path, default=Path("learning_curves.svg"))
    options = p.parse_args(arguments)
    missing = [folder for folder in options.folders if not (folder / CURVE).is_file()]
    if missing:
        print(f"curves: no {CURVE} in {', '.join(map(str, missing))}", file=sys.stderr)
        return 1
    draw(options.folders, options.output)
    print(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
