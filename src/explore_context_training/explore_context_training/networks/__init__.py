"""The paper's networks and the variants that predict better for the same budget."""

from explore_context_training.networks.context_model import ContextModel, Normalisation

__all__ = ["ContextModel", "Normalisation"]
