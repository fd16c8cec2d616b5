"""Training settings are typed and validated; errors name file and field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from explore_context_training.paths import training_config, workspace
from explore_context_training.settings import SettingsError, at, cosine_at, load_settings, settings_from

CONFIGS = sorted((workspace() / "config" / "training").glob("*.yaml"))


def minimal() -> dict:
    return {
        "model": {"transition": "gru", "latent": 8, "hidden": 8, "embedding": 8, "belief": 2},
        "data": {},
        "optimiser": {},
        "objective": {},
        "stages": [{"steps": 10, "batch": 4}],
    }


def write(folder: Path, recipe: object) -> Path:
    path = folder / "settings.yaml"
    path.write_text(yaml.safe_dump({"cpu": recipe}))
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_every_shipped_recipe_is_valid(path: Path) -> None:
    recipes = yaml.safe_load(path.read_text())
    assert {"cpu", "paper", "paper_cpu"} <= set(recipes)
    for recipe in recipes:
        assert load_settings(path, recipe).steps > 0


def test_paper_recipe_is_the_paper() -> None:
    settings = load_settings(training_config("pendulum"), "paper")
    model = settings.model
    assert (model.transition, model.latent, model.hidden, model.embedding, model.belief) == (
        "gru",
        200,
        200,
        128,
        16,
    )
    assert model.encoder_hidden == (200,) and not model.encoder_products and model.monotone
    assert settings.steps == 100_000 and {stage.batch for stage in settings.stages} == {512}
    assert all(stage.kl_weight == (5.0, 5.0) and stage.chunk == (50, 50) for stage in settings.stages)
    # p_ctx-from-target: 0.5 until 30k, linear to 0 until 60k.
    values = []
    for step in (0, 29_999, 45_000, 60_000, 99_999):
        index, progress = settings.stage_at(step)
        values.append(at(settings.stages[index].p_context_from_target, progress))
    assert values == pytest.approx([0.5, 0.5, 0.25, 0.0, 0.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(modle={}), "unknown key modle"),
        (lambda s: s["model"].update(width=3), r"cpu.model: unknown key width"),
        (lambda s: s["model"].pop("belief"), r"cpu.model: missing key belief"),
        (lambda s: s["model"].update(transition="lstm"), "'lstm' is not one of gru, residual"),
        (lambda s: s["model"].update(latent=2.5), r"cpu.model.latent: expected int"),
        (lambda s: s["model"].update(latent=-1), "must not be negative"),
        (lambda s: s["stages"][0].update(chunk=[1, 2, 3]), r"stages\[0\].chunk"),
        (lambda s: s["stages"][0].update(kl_weight=float("nan")), r"stages\[0\].kl_weight"),
        (lambda s: s.update(stages=[]), r"cpu.stages: expected a list"),
        (lambda s: s["model"].update(belief=0), r"cpu.model: belief: 0 must be positive"),
        (lambda s: s["model"].update(body=8), r"cpu.model: body: there are no layers after the first"),
        (lambda s: s["data"].update(pairs=5), r"cpu.data: pairs: 5 do not fill 10 blocks"),
        (lambda s: s["stages"][0].update(batch=0), r"stages\[0\]: batch: 0 must be positive"),
        (lambda s: s["stages"][0].update(batch=3), r"stages\[0\]: batch: 3 is odd"),
        (lambda s: s["stages"][0].update(learning_rate=-1.0), r"stages\[0\]: learning_rate"),
        (lambda s: s["stages"][0].update(p_context_from_target=1.5), r"from_target: .* is not a probability"),
        (lambda s: s["stages"][0].update(kl_weight=-1), r"kl_weight: .* must not be negative"),
        (lambda s: s["stages"][0].update(chunk=200), r"stages\[0\].chunk: longer than rollouts"),
        (lambda s: s["stages"][0].update(p_context_independent=0.5), r"needs data.independent"),
        (lambda s: s["optimiser"].update(epsilon=0.0), r"cpu.optimiser: epsilon"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change, message: str) -> None:
    recipe = minimal()
    change(recipe)
    with pytest.raises(SettingsError, match=message) as error:
        load_settings(write(tmp_path, recipe), "cpu")
    assert "settings.yaml" in str(error.value)


def test_missing_file_recipe_and_bad_yaml(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        load_settings(tmp_path / "nothing.yaml", "cpu")
    with pytest.raises(SettingsError, match="no recipe 'gpu'; it holds cpu"):
        load_settings(write(tmp_path, minimal()), "gpu")
    bad = tmp_path / "bad.yaml"
    bad.write_text("cpu: [")
    with pytest.raises(SettingsError, match="not valid YAML"):
        load_settings(bad, "cpu")


def test_schedules() -> None:
    assert at((1.0, 3.0), 0.25) == 1.5
    assert cosine_at((2.0, 1.0), 0.0) == 2.0
    assert cosine_at((2.0, 1.0), 1.0) == pytest.approx(1.0)
    assert cosine_at((2.0, 1.0), 0.5) == pytest.approx(1.5)


def test_a_run_goes_on_with_the_stages_that_it_began() -> None:
    base = settings_from(minimal())
    first = base.stages[0]
    longer = replace(base, stages=(first, first))
    other = replace(base, stages=(first, replace(first, batch=2 * first.batch)))
    done = first.steps
    assert base.continues(base, done) and longer.continues(base, done) and other.continues(longer, done)
    assert base.continues(longer, done) and not base.continues(longer, done + 1)
    assert not other.continues(longer, done + 1)
    assert not replace(longer, model=replace(base.model, hidden=9)).continues(base, done)
    # What a run that diverged is told to lower.
    slower = replace(base, stages=(replace(first, learning_rate=(1e-6, 1e-7)),))
    clipped = replace(base, optimiser=replace(base.optimiser, gradient_clip=0.1))
    assert slower.continues(base, done) and clipped.continues(base, done)
    assert not replace(base, optimiser=replace(base.optimiser, epsilon=0.1)).continues(base, done)
