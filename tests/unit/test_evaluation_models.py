"""Which models an evaluation takes: by their manifests."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from explore_context.model import ModelError, load_manifest
from explore_context_evaluation.models import Catalogue, ModelReference, find_models, load_model

MODELS = Path(__file__).parents[2] / "models"


def _reference(name: str, seed: int, monotone: bool = True, variant: str = "residual") -> ModelReference:
    return ModelReference(f"/m/{name}", f"{name:0>16}", "pendulum", monotone, variant, seed, "cpu", 1)


def _names(models: tuple[ModelReference, ...]) -> list[str]:
    return [model.name for model in models]


def test_the_shipped_model_comes_first_then_other_seeds() -> None:
    catalogue = Catalogue(
        Path("/m"),
        (
            _reference("pendulum_seed_2", 2),
            _reference("pendulum", 100),
            _reference("pendulum_seed_1", 1),
            _reference("pendulum_again", 100),
            _reference("pendulum_gru", 3, variant="gru"),
            _reference("pendulum_not_monotone", 100, monotone=False),
        ),
    )
    assert _names(catalogue.choose("pendulum", 3)) == ["pendulum", "pendulum_seed_1", "pendulum_seed_2"]
    assert _names(catalogue.choose("pendulum", 1)) == ["pendulum"]
    assert _names(catalogue.choose("pendulum", 3, monotone=False)) == ["pendulum_not_monotone"]
    assert catalogue.choose("toy_inner", 3) == ()
    assert catalogue.missing("toy_inner") == "no model of toy_inner in m/"


def test_models_are_found_by_their_manifests(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    manifest = load_manifest(MODELS / "pendulum")
    manifest.save(tmp_path / "a")
    training = {**manifest.training, "seed": 7}
    dataclasses.replace(manifest, monotone=False, training=training).save(tmp_path / "b")
    found = find_models(tmp_path).models
    assert [(m.name, m.plant, m.monotone) for m in found] == [
        ("a", "pendulum", True),
        ("b", "pendulum", False),
    ]
    assert found[1].seed == 7


def test_a_damaged_manifest_is_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.yaml").write_text("format: 1\n")
    load_manifest(MODELS / "pendulum").save(tmp_path)
    (tmp_path / "whole").mkdir()
    (tmp_path / "manifest.yaml").rename(tmp_path / "whole" / "manifest.yaml")
    with pytest.warns(UserWarning, match=r"broken/manifest\.yaml"):
        assert [model.name for model in find_models(tmp_path).models] == ["whole"]


def test_a_missing_folder_is_an_error() -> None:
    with pytest.raises(ModelError, match="no such folder"):
        find_models(Path("/no/such/folder"))


def test_a_model_that_changes_meanwhile_is_refused() -> None:
    (shipped,) = find_models(MODELS).choose("pendulum", 1)
    assert load_model(shipped).model_hash == shipped.model_hash
    with pytest.raises(ModelError, match="replaced during the evaluation"):
        load_model(dataclasses.replace(shipped, model_hash="0" * 16))
