"""Training speed: chunks per second of a plain implementation of the paper's loss and of ours, same
batch, same run.

The plain one is ``explore_context_training.reference``: every term evaluated by itself with
``nn.GRUCell``, context sets padded.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import tqdm

from explore_context.plants import get_plant
from explore_context_training.data import EndlessData
from explore_context_training.networks import ContextModel
from explore_context_training.objective import TensorBatch, loss_and_terms
from explore_context_training.paths import training_config
from explore_context_training.reference import reference_loss
from explore_context_training.settings import ObjectiveSettings, StageSettings, load_settings
from explore_context_training.training import to_tensors

Loss = Callable[[], Tensor]


def main(arguments: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="bench training", description=(__doc__ or "").split("\n")[0])
    p.add_argument("--plant", default="pendulum")
    p.add_argument("--batch", type=int, default=128, help="chunks per step")
    p.add_argument("--chunk", type=int, default=50)
    p.add_argument(
        "--rounds", type=int, default=5, help="each variant takes its turn in every round; the fastest counts"
    )
    p.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    p.add_argument("--json", type=Path, help="also write the table to this file")
    options = p.parse_args(arguments)
    torch.set_num_threads(options.threads)
    seconds = _measure(_variants(options.plant, options.batch, options.chunk), options.rounds)
    plain = seconds["plain"]
    rows = [
        {"variant": name, "chunks_per_second": options.batch / t, "times_plain": plain / t}
        for name, t in seconds.items()
    ]
    work = f"{options.batch} chunks of {options.chunk}, forward and backward"
    print(f"{options.plant}: {work}, {options.threads} threads")
    print(f"{'variant':<52}{'chunks/s':>10}{'x plain':>10}")
    for row in rows:
        print(f"{row['variant']:<52}{row['chunks_per_second']:>10.0f}{row['times_plain']:>10.2f}")
    if options.json:
        options.json.write_text(
            json.dumps({"batch": options.batch, "chunk": options.chunk, "rows": rows}, indent=2)
        )
    return 0


def _variants(plant_name: str, batch_size: int, chunk: int) -> dict[str, tuple[nn.Module, Loss]]:
    plant = get_plant(plant_name)
    paper = load_settings(training_config(plant_name), "paper")
    recipe = load_settings(training_config(plant_name), "cpu")
    stage = replace(paper.stages[-1], batch=batch_size, chunk=(chunk, chunk))
    data = EndlessData(plant, replace(recipe.data, pairs=2000, blocks=1), seed=0)
    batch = to_tensors(data.batch(0, stage, 0.0, paper.model.belief), torch.device("cpu"))
    normalisation = data.normalisation()
    spec = plant.spec
    gru, residual = (
        ContextModel(settings.model, spec.observation_dim, spec.action_dim, normalisation)
        for settings in (paper, recipe)
    )
    tenth = torch.linspace(0, chunk - 1, max(chunk // 10, 1)).long()
    kl_weight = stage.kl_weight[0]
    return {
        "plain": (gru, lambda: reference_loss(gru, batch, kl_weight, paper.objective)[0]),
        "ours, paper's model, all terms at every step": (
            gru,
            _ours(gru, batch, stage, paper.objective, None),
        ),
        "ours, paper's model, single steps on a tenth": (
            gru,
            _ours(gru, batch, stage, paper.objective, tenth),
        ),
        "ours, recipe 'cpu'": (residual, _ours(residual, batch, stage, recipe.objective, tenth)),
    }


def _ours(
    model: ContextModel,
    batch: TensorBatch,
    stage: StageSettings,
    objective: ObjectiveSettings,
    points: Tensor | None,
) -> Loss:
    return lambda: loss_and_terms(model, batch, stage, 0.0, objective, points)[0]


def _measure(variants: dict[str, tuple[nn.Module, Loss]], rounds: int) -> dict[str, float]:
    best = dict.fromkeys(variants, float("inf"))
    for _ in tqdm(range(rounds + 1), desc="rounds (the first warms up)"):
        for name, (model, loss) in variants.items():
            model.zero_grad(set_to_none=True)
            begin = time.perf_counter()
            loss().backward()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best
