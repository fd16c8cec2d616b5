"""What every shipped model promises: invariances of its belief, the prior, and figures no worse than the
manifest says.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.imagined import imagined_states

from explore_context.model import ContextModel, SessionSettings, gaussian_entropy
from explore_context.plants import get_plant
from explore_context_evaluation.paths import workspace
from explore_context_evaluation.prediction import evaluate, informative_transitions, make_test_systems

FOLDERS = sorted(p.parent for p in (workspace() / "models").glob("*/manifest.yaml"))
SETS = 2000


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda p: p.name)
def model(request: pytest.FixtureRequest) -> ContextModel:
    folder: Path = request.param
    loaded = ContextModel.load(folder, SessionSettings(provider="cpu"))
    return ContextModel.load(folder, SessionSettings(provider="cpu"), get_plant(loaded.manifest.plant).spec)


@pytest.fixture(scope="module")
def embeddings(model: ContextModel) -> np.ndarray:
    """Embeddings of transitions of many systems, 40 of each, (200, 40, F)."""
    plant = get_plant(model.manifest.plant)
    rng = np.random.default_rng(3)
    return np.stack(
        [
            model.embed(*informative_transitions(plant, plant.sample_context(rng, 1), 40, rng))
            for _ in range(200)
        ]
    )


def test_every_system_of_the_paper_is_shipped() -> None:
    assert {"toy_inner", "toy_outer", "pendulum", "mountain_car"} <= {folder.name for folder in FOLDERS}


def test_empty_context_is_the_unit_gaussian(model: ContextModel) -> None:
    prior = model.prior
    kl = 0.5 * (prior.std**2 + prior.mean**2 - 1) - np.log(prior.std)
    assert kl.max() <= 0.05


def test_order_of_transitions_does_not_matter(model: ContextModel) -> None:
    plant = get_plant(model.manifest.plant)
    rng = np.random.default_rng(1)
    x, u, y = informative_transitions(plant, plant.sample_context(rng, 1), 20, rng)
    forward = model.belief(x, u, y)
    order = rng.permutation(20)
    shuffled = model.belief(x[order], u[order], y[order])
    np.testing.assert_allclose(shuffled.mean, forward.mean, atol=1e-5)
    np.testing.assert_allclose(shuffled.std, forward.std, atol=1e-6)


def test_entropy_never_grows(model: ContextModel, embeddings: np.ndarray) -> None:
    """Thousands of random sets, each a subset of a larger one, in any order."""
    if not model.manifest.monotone:
        pytest.skip("the ablation without the monotone variance makes no such promise")
    rng = np.random.default_rng(2)
    session = model.session("belief")
    small, large = [], []
    for _ in range(SETS):
        rows = embeddings[rng.integers(len(embeddings))]
        order = rng.permutation(len(rows))
        few, many = np.sort(rng.integers(0, len(rows) + 1, 2))
        small.append(rows[order[:few]].max(axis=0, initial=0.0))
        large.append(rows[order[:many]].max(axis=0, initial=0.0))
    before, after = (
        gaussian_entropy(session.run(["std"], {"pooled": np.stack(s)})[0]) for s in (small, large)
    )
    assert (after - before).max() <= 1e-5
    assert (after < before - 0.1).mean() > 0.02  # and it does fall: the promise is not kept by saying nothing


def test_imagined_rollouts_are_made_of_transitions(model: ContextModel) -> None:
    """What planners see of a model is the step that a single transition takes, again and again."""
    rng, high = np.random.default_rng(4), np.array(model.manifest.action_high, np.float32)
    actions = rng.uniform(-high, high, (3, 9, model.action_dim)).astype(np.float32)
    state = rng.uniform(-0.5, 0.5, model.state_dim).astype(np.float32)
    beta = model.prior.sample(rng, 2)
    feeds = {"state": state[None], "beta": beta, "actions": actions}
    means = model.session("imagine").run(None, feeds)[0]
    expected = [[imagined_states(model, state, u, b)[1:] for b in beta] for u in actions]
    np.testing.assert_allclose(means, expected, rtol=1e-3, atol=1e-3)


def test_prediction_is_what_the_manifest_says(model: ContextModel) -> None:
    """A tenth of the evaluation reproduces the stated one-step error within the spread of its sample."""
    stated = model.manifest.evaluation["prediction"]
    plant = get_plant(model.manifest.plant)
    table = evaluate(model, plant, make_test_systems(plant, stated["systems"], 4), stated["transitions"])
    assert table["mse"]["horizon_1"] <= 3 * stated["mse"]["horizon_1"] + 1e-4  # type: ignore[index]
    assert table["entropy_mean"] == pytest.approx(stated["entropy_mean"], abs=1e-3)
