"""Ways to act: imagined systems that react to what they have learned, and a planner that prepares for it."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.small_model import export_small_model

from explore_context.model import ContextModel, SessionSettings
from explore_context.planning import (
    Calibration,
    CalibrationSettings,
    ExecutionSettings,
    ExpectedInformationGain,
    RealtimePlannerSettings,
    make_planner,
)
from explore_context.planning.swings import velocity_columns
from explore_context.planning.ways import Outlook, WayRunner, Ways, draw_ways
from explore_context.plants import get_plant

MODELS = Path(__file__).parents[2] / "models"
SWINGING = np.array([-0.9, 0.4, 1.5], np.float32)


@pytest.fixture(scope="module")
def pendulum() -> ContextModel:
    return ContextModel.load(MODELS / "pendulum", SessionSettings("cpu", threads=1))


def samples(model: ContextModel, number: int = 4) -> NDArray[np.float32]:
    return model.prior.sample(np.random.default_rng(1), number)


def literal_gain(
    model: ContextModel, beta: NDArray[np.float32], first: float, way: tuple[int, int], steps: int
) -> float:
    """One way of one imagined system, step by step with what the model offers to everyone."""
    (column,) = velocity_columns(model)
    scale = model.manifest.normalisation["state_scale"][column]
    x, action, belief = SWINGING[None], first, model.prior
    for step in range(steps):
        if step:
            follows = {}
            for bound in (model.manifest.action_low[0], model.manifest.action_high[0]):
                following = model.predict_one(x, [[bound]], belief.mean)[0]
                along = np.sign(x[0, column]) * following[0, column] / scale
                follows[bound] = -along if way[0] <= step < sum(way) else along
            best = max(follows, key=lambda bound: follows[bound])
            action = best if follows[best] - follows[action] > 0.05 else action
        following = model.predict_one(x, [[action]], beta)[0]
        belief = model.update(belief, x, np.array([[action]]), following)
        x = following
    return model.prior.entropy - belief.entropy


@pytest.mark.parametrize("workers", [1, 3])
def test_shared_beginnings_change_nothing(pendulum: ContextModel, workers: int) -> None:
    ways: Ways = np.array([[1, 3], [4, 2], [4, 9], [11, 1]])
    beta, steps = samples(pendulum), 12
    runner = WayRunner(pendulum, ExecutionSettings(workers))
    prior = pendulum.prior.embedding[None]
    gains = runner._gains(SWINGING[None], prior, beta, ways, steps, None)
    assert gains.shape == (2, 5, 4)
    for corner, first in enumerate((-2.0, 2.0)):
        for number, way in enumerate([(steps, 0), *map(tuple, ways.tolist())]):
            expected = [literal_gain(pendulum, sample, first, way, steps) for sample in beta]
            np.testing.assert_allclose(gains[corner, number], expected, atol=1e-3)


def test_who_knows_nothing_keeps_the_action_and_who_knows_pushes_along(pendulum: ContextModel) -> None:
    plant, rng = get_plant("pendulum"), np.random.default_rng(2)
    context = np.array([[1.2, -1.4, 1.1, -1.5]])  # by quadrants, from -pi on
    state = np.stack([rng.uniform(-np.pi, np.pi, 60), rng.uniform(-3, 3, 60)], axis=1)
    torque = rng.uniform(-2, 2, (60, 1))
    following = plant.step(state, torque, np.repeat(context, 60, axis=0), rng)
    belief = pendulum.belief(plant.observe(state), torque, plant.observe(following))
    angles = np.array([-2.5, -1.0, 0.6, 2.3])
    x = plant.observe(np.stack([angles, np.full(4, 1.5)], axis=1)).astype(np.float32)
    runner = WayRunner(pendulum, ExecutionSettings(1))
    along = (context[0] > 0).astype(np.intp)  # the upper bound where the factor is positive
    for against in (False, True):
        for chosen in (np.zeros(4, np.intp), np.ones(4, np.intp)):
            mask = np.full(4, against)
            unknown = runner._react(x, np.repeat(pendulum.prior.embedding[None], 4, axis=0), chosen, mask)
            np.testing.assert_array_equal(unknown, chosen)
            known = runner._react(x, np.repeat(belief.embedding[None], 4, axis=0), chosen, mask)
            np.testing.assert_array_equal(known, 1 - along if against else along)


def test_stretches_begin_after_the_first_action_and_are_spread() -> None:
    ways = draw_ways(np.random.default_rng(0), 20, 30)
    assert ways.shape == (20, 2) and (np.diff(ways[:, 0]) >= 0).all()
    assert ways[:, 0].min() >= 1 and ways[:, 0].max() <= 29 and len(set(ways[:, 0])) >= 15
    assert set(ways[:, 1]) == set(range(1, 13))
    assert len(draw_ways(np.random.default_rng(0), 20, 1)) == 0


def test_each_sample_counts_with_its_best_way(
    pendulum: ContextModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = WayRunner(pendulum, ExecutionSettings(1))
    # Lower bound: one way is good for both (5); upper bound: each sample has its own (6).
    gains = np.array([[[5.0, 5.0], [0.0, 0.0]], [[6.0, 0.0], [0.0, 6.0]]])
    monkeypatch.setattr(runner, "_gains", lambda *arguments: gains)
    arguments = SWINGING[None], pendulum.prior.embedding[None], samples(pendulum, 2), 5, 1
    outlook = runner.outlook(*arguments, np.random.default_rng(0))
    assert outlook is not None and outlook.action.tolist() == [2.0] and outlook.gain == 6.0
    gains[1] = np.nan
    outlook = runner.outlook(*arguments, np.random.default_rng(0))
    assert outlook is not None and outlook.action.tolist() == [-2.0] and outlook.gain == 5.0
    gains[:] = np.inf
    assert runner.outlook(*arguments, np.random.default_rng(0)) is None


def test_a_short_time_means_fewer_ways(pendulum: ContextModel) -> None:
    runner = WayRunner(pendulum, ExecutionSettings(1))
    runner._seconds_per_step, runner._seconds_per_row = 0.001, 1e-5
    ways = draw_ways(np.random.default_rng(0), 20, 30)
    left = 30 - ways[:, 0]
    for seconds in (1.0, 0.1, 0.06, 0.0):
        kept = runner._affordable(ways, 30, 32, seconds)
        cost = 30 * 0.001 + 32e-5 * (30 + (30 - kept[:, 0]).sum())
        assert len(kept) == 20 if seconds == 1.0 else len(kept) < 20
        assert not len(kept) or cost <= seconds + 32e-5 * left.max()
        if len(kept) > 2:  # neither all early nor all late
            assert abs(kept[:, 0].mean() - ways[:, 0].mean()) < 5
    assert len(kept) == 0
    prior = pendulum.prior.embedding[None]
    late = runner.outlook(SWINGING[None], prior, samples(pendulum), 8, 20, np.random.default_rng(0), -1.0)
    assert late is not None  # the way without a stretch is always imagined


def test_a_calibration_without_end_is_not_imagined_to_its_end(
    pendulum: ContextModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = WayRunner(pendulum, ExecutionSettings(1))
    imagined: list[int] = []

    def gains(*arguments):
        imagined.append(arguments[4])
        return np.zeros((2, 1, 1))

    monkeypatch.setattr(runner, "_gains", gains)
    for remaining in (7, 100_000):
        arguments = SWINGING[None], pendulum.prior.embedding[None], samples(pendulum), remaining, 20
        assert runner.outlook(*arguments, np.random.default_rng(0)) is not None
    assert imagined == [7, 30]


def test_there_are_none_without_velocities_or_with_too_many_bounds(pendulum: ContextModel) -> None:
    toy = ContextModel.load(MODELS / "toy_inner")
    wide = copy.copy(pendulum)
    wide.manifest = replace(pendulum.manifest, action_low=(-1.0,) * 5, action_high=(1.0,) * 5)
    for model in (toy, wide):
        runner = WayRunner(model, ExecutionSettings(1))
        state, prior = np.zeros((1, model.state_dim), np.float32), model.prior.embedding[None]
        assert runner.outlook(state, prior, samples(model), 5, 3, np.random.default_rng(0)) is None


def test_only_who_plans_again_can_react(tmp_path: Path) -> None:
    model = export_small_model(tmp_path / "pendulum")
    settings = RealtimePlannerSettings(ways=3, way_samples=4)
    for kind, expected in (
        (CalibrationSettings("mpc"), True),
        (CalibrationSettings("mpc", reacts=False), False),
        (CalibrationSettings("open_loop"), False),
    ):
        calibration = Calibration(model, kind, make_planner(settings, [-2.0], [2.0]), 0)
        objective = calibration.objective(SWINGING, 6)
        assert (objective.outlook(3, 4, np.random.default_rng(0), None) is not None) is expected


def test_the_planner_begins_as_the_best_way_where_that_promises_more() -> None:
    class Torn:
        """Sequences should stay at 0.5; who reacts should begin at the lower bound."""

        promised = 0.0

        def __call__(self, candidates: NDArray[np.float32]) -> NDArray[np.float32]:
            return 10.0 - np.abs(candidates - 0.5).sum(axis=(1, 2))

        def outlook(
            self, ways: int, samples: int, rng: np.random.Generator, seconds: float | None
        ) -> Outlook | None:
            assert (ways, samples, seconds) == (7, 3, None)
            return Outlook(np.array([-2.0], np.float32), self.promised)

    settings = RealtimePlannerSettings(ways=7, way_samples=3, way_weight=1.5)
    for promised, reacts in ((5.0, False), (8.0, True)):
        planner, objective = make_planner(settings, [-2.0], [2.0]), Torn()
        objective.promised = promised
        plan = planner.plan(objective, 4, np.random.default_rng(0))
        assert bool(plan.actions[0, 0] == -2.0) is reacts
        assert plan.score == pytest.approx(float(objective(plan.actions[None])[0]))
        assert np.abs(plan.actions[1:] - 0.5).max() < 1.0
    without = make_planner(replace(settings, ways=0), [-2.0], [2.0])
    assert without.plan(objective, 4, np.random.default_rng(0)).actions[0, 0] > -1.0


def test_the_outlook_takes_samples_in_antithetic_pairs(
    pendulum: ContextModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner = make_planner(RealtimePlannerSettings(), [-2.0], [2.0])
    finalist = planner.draw(np.random.default_rng(0), 32, pendulum.belief_dim)
    gain = ExpectedInformationGain(pendulum)
    objective = gain.bind(SWINGING, pendulum.prior, finalist[:6], finalist, remaining=5)
    seen: list[NDArray[np.float32]] = []
    monkeypatch.setattr(objective.ways, "outlook", lambda state, pooled, beta, *others: seen.append(beta))
    objective.outlook(20, 16, np.random.default_rng(0), None)
    assert seen[0].shape == (16, pendulum.belief_dim)
    np.testing.assert_allclose(seen[0].sum(axis=0), 0.0, atol=1e-5)
