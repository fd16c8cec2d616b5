"""Plants by name. Another package adds one with an entry point of the group ``explore_context.plants``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from explore_context.plants import mountain_car, pendulum, toy
from explore_context.plants.base import Plant

ENTRY_POINT_GROUP = "explore_context.plants"

# Named here as well as in setup.py, so that training works from a bare source tree that was never installed.
_BUILT_IN: dict[str, Callable[[], Plant]] = {
    "toy_inner": toy.toy_inner,
    "toy_outer": toy.toy_outer,
    "toy_inner_noise_free": toy.toy_inner_noise_free,
    "toy_outer_noise_free": toy.toy_outer_noise_free,
    "pendulum": pendulum.Pendulum,
    "mountain_car": mountain_car.MountainCar,
}


def plant_names() -> list[str]:
    """Names of all plants that are built in or registered by an installed package."""
    return sorted({*_BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))})


def get_plant(name: str) -> Plant:
    """Make the plant called ``name``; an unknown name raises with the names that there are."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        plant = point.load()()
        if not isinstance(plant, Plant) or plant.spec.name != name:
            raise TypeError(f"entry point {name!r} ({point.value}) does not make a Plant of that name")
        return plant
    raise ValueError(f"unknown plant {name!r}; known are {', '.join(plant_names())}")
