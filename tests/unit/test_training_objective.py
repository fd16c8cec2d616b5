"""Each term of the objective against the slow, literal implementation, and the networks' guarantees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from explore_context.plants import get_plant
from explore_context_training import objective, reference
from explore_context_training.data import EndlessData
from explore_context_training.networks import ContextModel
from explore_context_training.settings import DataSettings, ModelSettings, ObjectiveSettings, StageSettings
from explore_context_training.training import to_tensors

GRU = ModelSettings("gru", latent=24, hidden=20, embedding=12, belief=3)
RESIDUAL = ModelSettings(
    "residual",
    latent=5,
    hidden=24,
    embedding=12,
    belief=3,
    layers=2,
    encoder_hidden=(16, 16),
    encoder_products=True,
)
TOY_LIKE = replace(RESIDUAL, constant_variance=True)
VARIANTS = {
    "gru": GRU,
    "residual": RESIDUAL,
    "modulated": replace(RESIDUAL, modulated=True, substeps=2),
    "constant variance": TOY_LIKE,
    "not monotone": replace(GRU, monotone=False),
}
STAGE = StageSettings(
    steps=10, batch=16, chunk=(7, 7), context=(9, 9), p_context_from_target=(0.5, 0.5), kl_weight=(5, 5)
)


@pytest.fixture(params=VARIANTS, ids=str)
def setup(request: pytest.FixtureRequest) -> tuple[ContextModel, objective.TensorBatch]:
    torch.manual_seed(3)
    plant = get_plant("pendulum")
    data = EndlessData(plant, DataSettings(pairs=40, blocks=2, rollout=20), seed=1)
    model = ContextModel(VARIANTS[request.param], 3, 1, data.normalisation())
    batch = data.batch(0, STAGE, 0.0, belief=3)
    return model, to_tensors(batch, torch.device("cpu"))


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_loss_and_every_term_match_the_literal_implementation(setup, reduction) -> None:
    model, batch = setup
    settings = ObjectiveSettings(single_step_reduction=reduction)
    loss, terms = objective.loss_and_terms(model, batch, STAGE, 0.0, settings, None)
    expected_loss, expected = reference.reference_loss(model, batch, 5.0, settings)
    assert set(terms) == set(expected)
    for name, value in expected.items():
        torch.testing.assert_close(
            terms[name], value, rtol=2e-5, atol=1e-4, msg=lambda m, n=name: f"{n}: {m}"
        )
    torch.testing.assert_close(loss, expected_loss, rtol=2e-5, atol=1e-3)


def test_gradients_match_the_literal_implementation(setup) -> None:
    model, batch = setup
    settings = ObjectiveSettings()
    objective.loss_and_terms(model, batch, STAGE, 0.0, settings, None)[0].backward()
    fast = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    reference.reference_loss(model, batch, 5.0, settings)[0].backward()
    for name, p in model.named_parameters():
        torch.testing.assert_close(
            fast[name], p.grad, rtol=1e-3, atol=1e-3 * float(p.grad.abs().max()) + 1e-6
        )


def test_random_points_estimate_the_sum(setup) -> None:
    """Averaged over all choices of points, the estimate is the full single-step sum."""
    model, batch = setup
    full = objective.loss_and_terms(model, batch, STAGE, 0.0, ObjectiveSettings(), None)[1]["single_step"]
    estimates = [
        objective.loss_and_terms(model, batch, STAGE, 0.0, ObjectiveSettings(), torch.tensor([h]))[1][
            "single_step"
        ]
        for h in range(7)
    ]
    torch.testing.assert_close(torch.stack(estimates).mean(), full, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("given", ["posterior", "context"])
def test_squared_error_is_scaled_by_a_fixed_standard_deviation(setup, given) -> None:
    model, batch = setup
    stage = replace(STAGE, squared_error_weight=2.0, squared_error_given=given)
    plain, _ = objective.loss_and_terms(model, batch, STAGE, 0.0, ObjectiveSettings(), None)
    loss, terms = objective.loss_and_terms(model, batch, stage, 0.0, ObjectiveSettings(), None)
    prior, posterior = reference.reference_beliefs(model, batch)
    beta = posterior[0] + posterior[1] * batch.noise
    if given == "context":  # on the first half of the rows
        rows = len(beta) // 2
        beta, batch = (
            prior[0][:rows],
            replace(batch, states=batch.states[:rows], actions=batch.actions[:rows]),
        )
    path = z = reference.start(model, batch.states[:, 0])
    expected = torch.zeros(())
    for h in range(batch.actions.shape[1]):
        path = reference.reference_step(model, path, batch.actions[:, h], beta)
        z = reference.reference_step(
            model, reference.start(model, batch.states[:, h]), batch.actions[:, h], beta
        )
        target = model.normalise_state(batch.states[:, h + 1])
        for latent in (path, z):
            std = model.transition.decode_variance(latent).sqrt()
            error = (model.transition.decode_mean(latent) - target) ** 2 / std
            expected = expected + error.sum(-1).mean()
    torch.testing.assert_close(terms["squared_error"], expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(loss - plain, 2.0 * expected, rtol=1e-3, atol=1e-3)


def test_the_variance_does_not_answer_for_the_squared_error(setup) -> None:
    model, batch = setup
    latents = model.transition.start(model.normalise_state(batch.states[:, 0])).detach().requires_grad_()
    target = model.normalise_state(batch.states[:, 1])
    objective.scaled_squared_error(model.transition, latents, target).sum().backward()
    assert latents.grad is not None and latents.grad.abs().max() > 0
    assert all(p.grad is None for p in model.transition.variance_decoder.parameters())


def test_kl_is_clipped_from_below_per_dimension() -> None:
    same = objective.Belief(torch.zeros(4, 3), torch.ones(4, 3))
    assert objective.clipped_kl(same, same, 0.1).tolist() == pytest.approx([0.3] * 4)
    other = objective.Belief(torch.tensor([[2.0, 0.0, 0.0]]), torch.ones(1, 3))
    unit = objective.Belief(torch.zeros(1, 3), torch.ones(1, 3))
    assert objective.clipped_kl(other, unit, 0.1).item() == pytest.approx(2.0 + 0.2)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_anchored_empty_context_is_the_unit_gaussian(variant: str) -> None:
    model = _model(replace(VARIANTS[variant], anchored=True))
    mean, std = model.belief(torch.zeros(1, 12))
    torch.testing.assert_close(mean, torch.zeros_like(mean))
    torch.testing.assert_close(std, torch.ones_like(std))


@pytest.mark.parametrize(
    "settings", [GRU, RESIDUAL, replace(RESIDUAL, anchored=True)], ids=["gru", "residual", "anchored"]
)
def test_more_transitions_never_raise_the_standard_deviation(settings: ModelSettings) -> None:
    model = _model(settings)
    small = torch.rand(500, 12)
    large = small + torch.rand(500, 12)
    assert bool((model.belief(small)[1] >= model.belief(large)[1]).all())


def test_without_the_constraint_the_standard_deviation_may_rise() -> None:
    model = _model(replace(GRU, monotone=False))
    small = torch.rand(500, 12)
    assert not bool((model.belief(small)[1] >= model.belief(small + torch.rand(500, 12))[1]).all())


def test_embedding_is_not_negative_and_rollout_matches_steps(setup) -> None:
    model, batch = setup
    assert bool((model.embed(*batch.context) >= 0).all())
    beta = torch.randn(16, 3)
    latents = model.rollout(batch.states[:, 0], batch.actions, beta)
    z = reference.start(model, batch.states[:, 0])
    for h in range(7):
        z = reference.reference_step(model, z, batch.actions[:, h], beta)
        torch.testing.assert_close(latents[:, h], z, rtol=1e-5, atol=1e-6)


def test_residual_predictions_stay_within_the_range_of_the_data() -> None:
    model = _model(RESIDUAL)
    with torch.no_grad():
        model.transition.step_scale.fill_(100.0)
    states = model.predict(torch.zeros(5, 3), torch.ones(5, 30, 1), torch.randn(5, 3))
    assert bool((states <= model.state_high + 1e-4).all()) and bool((states >= model.state_low - 1e-4).all())


def test_contact_resets_the_other_entries_when_a_bound_is_hit() -> None:
    from explore_context_training.networks.transition_models import ContactReset

    contact = ContactReset(2)
    with torch.no_grad():
        contact.strength.fill_(50.0)
        contact.target.fill_(0.25)
    z = torch.tensor([[1.5, 2.0], [0.5, 2.0]])
    bounded = z.clamp(max=torch.tensor([1.0, 9.0]))
    torch.testing.assert_close(contact(z, bounded), torch.tensor([[1.0, 0.25], [0.5, 2.0]]))


def _model(settings: ModelSettings) -> ContextModel:
    torch.manual_seed(0)
    data = EndlessData(get_plant("pendulum"), DataSettings(pairs=40, blocks=2, rollout=20), seed=1)
    model = ContextModel(settings, 3, 1, data.normalisation())
    with (
        torch.no_grad()
    ):  # trained biases are not zero: make sure that no guarantee leans on the initialisation
        for p in model.parameters():
            p.add_(
                0.2 * torch.from_numpy(np.random.default_rng(0).standard_normal(p.shape).astype(np.float32))
            )
    return model
