"""Families of systems as pure, batched numpy physics."""

from explore_context.plants.base import Plant, PlantSpec
from explore_context.plants.registry import get_plant, plant_names
from explore_context.plants.rollouts import Rollouts, random_rollouts, simulate

__all__ = ["Plant", "PlantSpec", "Rollouts", "get_plant", "plant_names", "random_rollouts", "simulate"]
