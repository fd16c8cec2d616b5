"""Another package adds a plant by an entry point alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from explore_context.plants import get_plant, plant_names

MODULE = """
from dataclasses import replace
from explore_context.plants.pendulum import Pendulum

class Heavy(Pendulum):
    spec = replace(Pendulum.spec, name="heavy_pendulum")

def wrong():
    return Pendulum()
"""
ENTRY_POINTS = """
[explore_context.plants]
heavy_pendulum = heavy_plants:Heavy
wrong_name = heavy_plants:wrong
"""


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution, as pip would leave it."""
    (tmp_path / "heavy_plants.py").write_text(MODULE)
    metadata = tmp_path / "heavy_plants-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: heavy-plants\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "heavy_plants", raising=False)


def test_built_in_plants_are_there() -> None:
    assert {"toy_inner", "toy_outer", "pendulum", "mountain_car"} <= set(plant_names())


@pytest.mark.usefixtures("other_package")
def test_entry_point_adds_a_plant() -> None:
    assert "heavy_pendulum" in plant_names()
    assert get_plant("heavy_pendulum").spec.name == "heavy_pendulum"


@pytest.mark.usefixtures("other_package")
def test_entry_point_that_makes_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="does not make a Plant of that name"):
        get_plant("wrong_name")


def test_unknown_name_raises_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown plant 'unicycle'.*pendulum"):
        get_plant("unicycle")
