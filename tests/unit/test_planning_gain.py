"""Expected information gain: against a literal implementation of equation 10, and against the closed form of
a linear-Gaussian model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
import torch
from numpy.typing import NDArray
from tests.helpers.imagined import imagined_states
from tests.helpers.small_model import export_small_model
from torch import nn

from explore_context.model import Belief, ContextModel, gaussian_entropy
from explore_context.planning import ExecutionSettings, ExpectedInformationGain
from explore_context.planning.device import DeviceRunner
from explore_context_training import networks
from explore_context_training.export.planner_graphs import gain_graph
from explore_context_training.networks import Normalisation
from explore_context_training.settings import ModelSettings

MODELS = Path(__file__).parents[2] / "models"
STATE = np.array([-0.9, 0.3, 1.5], np.float32)


@pytest.fixture(scope="module", params=["residual", "modulated", "contact", "gru"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ContextModel:
    return export_small_model(tmp_path_factory.mktemp("model") / "pendulum", request.param)


def some_belief(model: ContextModel, rng: np.random.Generator) -> Belief:
    """The belief after three transitions."""
    states = rng.uniform(-1, 1, (4, model.state_dim))
    return model.belief(states[:-1], rng.uniform(-2, 2, (3, model.action_dim)), states[1:])


def literal_gain(
    model: ContextModel,
    state: NDArray[np.float32],
    belief: Belief,
    beta: NDArray[np.float32],
    actions: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Equation 10 with the model's plain graphs: imagine each rollout, encode its transitions, compare
    entropies.
    """
    gains = np.zeros((len(actions), len(beta)))
    for k, sequence in enumerate(actions):
        for s, context in enumerate(beta):
            visited = imagined_states(model, state, sequence, context)
            after = model.update(belief, visited[:-1], sequence, visited[1:])
            gains[k, s] = gaussian_entropy(belief.std) - gaussian_entropy(after.std)
    return gains.mean(axis=1)


@pytest.mark.parametrize(("samples", "horizon"), [(1, 1), (4, 7)])
def test_equals_the_literal_implementation(model: ContextModel, samples: int, horizon: int) -> None:
    rng = np.random.default_rng(1)
    actions = rng.uniform(-2, 2, (6, horizon, 1)).astype(np.float32)
    for belief in (model.prior, some_belief(model, rng)):
        beta = belief.sample(rng, samples)
        gain = ExpectedInformationGain(model).bind(STATE, belief, beta)(actions)
        assert gain.shape == (6,)
        expected = literal_gain(model, STATE, belief, beta, actions)
        np.testing.assert_allclose(gain, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("plant", ["pendulum", "mountain_car", "toy_inner", "toy_outer"])
def test_equals_the_literal_implementation_on_the_shipped_models(plant: str) -> None:
    if not (MODELS / plant / "manifest.yaml").exists():
        pytest.skip(f"models/{plant} is not there")
    model = ContextModel.load(MODELS / plant)
    rng = np.random.default_rng(2)
    high = np.array(model.manifest.action_high, np.float32)
    actions = rng.uniform(-high, high, (5, 9, model.action_dim)).astype(np.float32)
    state = rng.uniform(-0.5, 0.5, model.state_dim).astype(np.float32)
    beta = model.prior.sample(rng, 3)
    gain = ExpectedInformationGain(model).bind(state, model.prior, beta)(actions)
    expected = literal_gain(model, state, model.prior, beta, actions)
    np.testing.assert_allclose(gain, expected, rtol=1e-4, atol=1e-4)


def test_blocks_and_threads_change_nothing(model: ContextModel) -> None:
    rng = np.random.default_rng(3)
    beta = model.prior.sample(rng, 4)
    actions = rng.uniform(-2, 2, (37, 5, 1)).astype(np.float32)
    whole, blocked = (
        ExpectedInformationGain(model, ExecutionSettings(workers, rows)).bind(STATE, model.prior, beta)(
            actions
        )
        for workers, rows in ((1, 10_000), (3, 16))
    )
    np.testing.assert_allclose(blocked, whole, rtol=1e-5, atol=1e-5)


def test_bound_device_tensors_give_the_same_gain(model: ContextModel) -> None:
    rng = np.random.default_rng(4)
    beta = model.prior.sample(rng, 4)
    actions = rng.uniform(-2, 2, (9, 5, 1)).astype(np.float32)
    plain = ExpectedInformationGain(model).bind(STATE, model.prior, beta)
    on_device = ExpectedInformationGain(model, runner=DeviceRunner(model, "gain", "cpu"))
    bound = on_device.bind(STATE, model.prior, beta)
    np.testing.assert_allclose(bound(actions), plain(actions), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("state", [[np.nan, 0.0, 0.0], [0.0, 0.0]])
def test_a_bad_state_is_refused(model: ContextModel, state: list[float]) -> None:
    with pytest.raises(ValueError, match="state must hold 3 finite numbers"):
        ExpectedInformationGain(model).bind(
            state, model.prior, model.prior.sample(np.random.default_rng(0), 2)
        )


# A linear-Gaussian experiment: at place i (the state counts 0, 1, 2) action u measures y = u beta_i + noise
# of standard deviation 0.8.
PLACES, NOISE = 3, 0.8
GRID = np.array([0.0, 0.5, 1.0, 1.5, 2.0])


def linear_gaussian_model() -> networks.ContextModel:
    """Weights by hand: x+ = x + 1, embedding_i = |u| at place i and 0 elsewhere, std_i = 1 / sqrt(1 + u^2 /
    noise^2) on GRID.
    """
    settings = ModelSettings(
        "residual",
        1,
        4,
        PLACES,
        PLACES,
        encoder_hidden=(2 + 2 * PLACES,),
        decoder_hidden=PLACES * len(GRID),
        monotone=False,
    )
    model = networks.ContextModel(settings, 1, 1, Normalisation.identity(1, 1)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.transition.step_scale.fill_(1.0)
        last = model.transition.body[-1]
        last.bias[0] = 1.0
        _set_encoder(model.encoder.transition_encoder)
        _set_std_decoder(model.encoder.std_decoder)
    return model


def _set_encoder(network: nn.Sequential) -> None:
    """Inputs [x, u, x+ - x]; hidden relu(+-u), relu(+-(x - i)); output |u| - 100 |x - i|."""
    first, last = network[0], network[-1]
    first.weight[0, 1], first.weight[1, 1] = 1.0, -1.0
    last.weight[:, :2] = 1.0
    for i in range(PLACES):
        for sign, row in ((1.0, 2 + 2 * i), (-1.0, 3 + 2 * i)):
            first.weight[row, 0], first.bias[row] = sign, -sign * i
            last.weight[i, row] = -100.0


def _set_std_decoder(network: nn.Sequential) -> None:
    """Piecewise linear between the points of GRID, exact on them: softplus(0.5 - 0.3 g) + 0.01 = std."""
    std = 1.0 / np.sqrt(1.0 + GRID**2 / NOISE**2)
    values = (0.5 - np.log(np.expm1(std - 0.01))) / 0.3
    slopes = np.diff(values) / np.diff(GRID)
    bends = np.diff(slopes, prepend=0.0)
    first, last = network[0], network[-1]
    for i in range(PLACES):
        last.bias[i] = values[0]
        for j, bend in enumerate(bends):
            row = i * len(GRID) + j
            first.weight[row, i], first.bias[row] = 1.0, -GRID[j]
            last.weight[i, row] = bend


def closed_form(actions: NDArray[np.floating], measured: NDArray[np.floating]) -> NDArray[np.float64]:
    """Sum over places of 1/2 log of the ratio of precisions before and after; a place keeps its best
    measurement.
    """
    best = np.maximum(np.abs(actions[:, :, 0]), measured)
    return 0.5 * np.log((1 + best**2 / NOISE**2) / (1 + measured**2 / NOISE**2)).sum(axis=1)


@pytest.mark.parametrize("measured", [[0.0, 0.0, 0.0], [1.5, 0.0, 0.5]])
def test_equals_the_closed_form_of_a_linear_gaussian_model(measured: list[float]) -> None:
    rng = np.random.default_rng(5)
    graph = gain_graph(linear_gaussian_model()).SerializeToString()
    session = ort.InferenceSession(graph, providers=["CPUExecutionProvider"])
    actions = (rng.choice(GRID, (40, PLACES, 1)) * rng.choice([-1, 1], (40, PLACES, 1))).astype(np.float32)
    feeds = {
        "state": np.zeros((1, 1), np.float32),
        "pooled": np.array([measured], np.float32),
        "beta": rng.standard_normal((6, PLACES)).astype(np.float32),
        "actions": actions,
    }
    gain = session.run(None, feeds)[0]
    np.testing.assert_allclose(gain, closed_form(actions, np.array(measured)), rtol=1e-4, atol=1e-4)
