"""A small model with random weights, exported by the real exporter, for tests that need no skill."""

from __future__ import annotations

from pathlib import Path

import torch

from explore_context.model import ContextModel, SessionSettings
from explore_context.plants import get_plant
from explore_context_training import networks
from explore_context_training.checkpoint import Checkpoint, TrainingRecord
from explore_context_training.export.exporter import export_checkpoint
from explore_context_training.networks import Normalisation
from explore_context_training.settings import (
    DataSettings,
    ModelSettings,
    ObjectiveSettings,
    OptimiserSettings,
    StageSettings,
    TrainingSettings,
)

SMALL = {
    "residual": ModelSettings(
        "residual", 4, 24, 16, 5, encoder_hidden=(20, 20), encoder_products=True, layers=2, anchored=True
    ),
    "modulated": ModelSettings(
        "residual", 4, 24, 16, 5, body=12, layers=3, modulated=True, substeps=2, anchored=True
    ),
    "contact": ModelSettings("residual", 4, 24, 16, 5, contact=True),
    "gru": ModelSettings("gru", 20, 24, 16, 5, encoder_hidden=(20,)),
}


def small_network(variant: str, plant_name: str = "pendulum", seed: int = 0) -> networks.ContextModel:
    """The PyTorch network; larger weights than PyTorch's, so that actions and contexts matter."""
    spec = get_plant(plant_name).spec
    states, actions = spec.observation_dim, spec.action_dim
    normalisation = Normalisation(
        (0.1,) * states,
        (2.0,) * states,
        spec.action_high,
        (0.5,) * states,
        spec.observation_low,
        spec.observation_high,
    )
    torch.manual_seed(seed)
    network = networks.ContextModel(SMALL[variant], states, actions, normalisation).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.7)
        if variant == "contact":
            network.transition.contact.strength.uniform_(-1.0, 1.0)
            network.transition.contact.target.uniform_(-0.5, 0.5)
    return network


def export_small_model(
    folder: Path, variant: str = "residual", plant_name: str = "pendulum", threads: int = 1
) -> ContextModel:
    """Export ``small_network`` to ``folder`` and load it as a robot would."""
    network = small_network(variant, plant_name)
    settings = TrainingSettings(
        SMALL[variant], DataSettings(), OptimiserSettings(), ObjectiveSettings(), (StageSettings(1, 2),)
    )
    record = TrainingRecord(plant_name, "test", 0, 0, 0.0, "none", "none", {})
    weights = dict(network.state_dict())
    export_checkpoint(Checkpoint(record, settings, network.normalisation, weights, {}), folder)
    return ContextModel.load(folder, SessionSettings("cpu", threads), get_plant(plant_name).spec)
