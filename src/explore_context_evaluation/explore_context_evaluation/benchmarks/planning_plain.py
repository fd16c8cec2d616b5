"""The baseline: the paper's planner as one writes it down in eager PyTorch, all candidates in one batch.

Weights are random, of the architecture that the manifest names: time does not depend on them.
"""

from __future__ import annotations

import time
from pathlib import Path

import torch
from torch import Tensor

from explore_context.model import ContextModel, Manifest, SessionSettings
from explore_context.planning import PaperPlannerSettings
from explore_context_training import networks
from explore_context_training.checkpoint import Checkpoint, TrainingRecord
from explore_context_training.export.exporter import export_checkpoint
from explore_context_training.networks.transition_models import GruTransitionModel
from explore_context_training.paths import training_config
from explore_context_training.settings import ModelSettings, load_settings, settings_from


def plain_network(manifest: Manifest) -> networks.ContextModel:
    """The network of an exported model, with random weights."""
    return _network(settings_from(manifest.training["settings"], "manifest").model, manifest)


def _network(settings: ModelSettings, manifest: Manifest) -> networks.ContextModel:
    dimensions = manifest.dimensions
    torch.manual_seed(0)
    normalisation = _normalisation(manifest)
    return networks.ContextModel(settings, dimensions["state"], dimensions["action"], normalisation).eval()


def _normalisation(manifest: Manifest) -> networks.Normalisation:
    return networks.Normalisation(**{key: tuple(values) for key, values in manifest.normalisation.items()})


def untrained_model(manifest: Manifest, recipe: str, folder: Path) -> ContextModel:
    """The network of one of the plant's training recipes, with random weights, exported to ``folder`` as a
    trained one would be.
    """
    settings = load_settings(training_config(manifest.plant), recipe)
    record = TrainingRecord(manifest.plant, recipe, 0, 0, 0.0, "untrained", "untrained", {})
    weights = dict(_network(settings.model, manifest).state_dict())
    export_checkpoint(Checkpoint(record, settings, _normalisation(manifest), weights, {}), folder)
    return ContextModel.load(folder, SessionSettings("cpu"))


def expected_gain(model: networks.ContextModel, state: Tensor, beta: Tensor, actions: Tensor) -> Tensor:
    """Equation 10 from an empty context: state (X,), beta (S, B), actions (K, H, U) -> (K,)."""
    samples, rows = len(beta), len(actions) * len(beta)
    actions = actions.repeat_interleave(samples, dim=0)
    beta = beta.repeat(rows // samples, 1)
    context_code = _context_code(model, beta)
    x = state.expand(rows, -1)
    z = model.transition.start(model.normalise_state(x))
    pooled = torch.zeros(rows, model.settings.embedding)
    for step in range(actions.shape[1]):
        z = _step(model, model.transition.renewed(z), actions[:, step], context_code)
        following = model.to_raw(model.transition.decode_mean(z))
        pooled = torch.maximum(pooled, model.embed(x, actions[:, step], following))
        x = following
    before = model.belief(torch.zeros(1, pooled.shape[1]))[1].log().sum()
    return before - model.belief(pooled)[1].log().sum(-1).unflatten(0, (-1, samples)).mean(-1)


def _context_code(model: networks.ContextModel, beta: Tensor) -> Tensor:
    network = model.transition
    if isinstance(network, GruTransitionModel):
        return torch.relu(network.context_encoder(beta))
    return network.encode_context(beta)


def _step(model: networks.ContextModel, z: Tensor, action: Tensor, context_code: Tensor) -> Tensor:
    network = model.transition
    action = model.normalise_action(action)
    if isinstance(network, GruTransitionModel):
        code = torch.relu(network.action_encoder(action))
        return network.cell(torch.cat([code, context_code], dim=-1), z)
    return network.step(z, network.encode_actions(action), context_code)


@torch.no_grad()
def time_plain_plan(
    model: networks.ContextModel, state: Tensor, horizon: int, reach: Tensor, settings: PaperPlannerSettings
) -> float:
    """Seconds of one plan of the paper's cross-entropy method: two iterations, scaled to all of them."""
    measured = min(2, settings.iterations)
    beta = torch.randn(settings.samples, model.settings.belief)
    begin = time.perf_counter()
    mean, std = torch.zeros(horizon, len(reach)), reach.expand(horizon, -1)
    for _ in range(measured):
        noise = torch.randn(settings.candidates, *mean.shape)
        candidates = torch.maximum(torch.minimum(mean + std * noise, reach), -reach)
        gain = expected_gain(model, state, beta, candidates)
        elites = candidates[gain.topk(settings.elites).indices]
        mean, std = elites.mean(dim=0), elites.std(dim=0)
    return (time.perf_counter() - begin) * settings.iterations / measured
