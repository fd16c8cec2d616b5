"""Calibration schemes and swing-up as state machines: order of calls, horizons, seeds, several rollouts,
missed deadlines.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.imagined import imagined_states
from tests.helpers.small_model import export_small_model

from explore_context.model import ContextModel
from explore_context.planning import (
    Calibration,
    CalibrationSettings,
    Objective,
    PaperPlannerSettings,
    Plan,
    Planner,
    PlannerSettings,
    RealtimePlannerSettings,
    SwingUp,
    SwingUpCost,
    default_calibration,
    make_planner,
)
from explore_context.planning.cem import CrossEntropyMethod
from explore_context.planning.device import DeviceRunner
from explore_context.planning.objectives import ExpectedInformationGain, swing_up_cost
from explore_context.planning.simulated import SimulatedCalibration, calibrate_simulated, swing_up_simulated
from explore_context.plants import get_plant, plant_names

PLANT = get_plant("pendulum")
CONTEXT = np.array([1.0, -0.7, 1.5, 0.6])
DOWN = PLANT.observe(np.array([[np.pi, 0.0]]))[0]
FEW = PaperPlannerSettings(iterations=2, candidates=20, elites=4, samples=3)
QUICK = RealtimePlannerSettings(
    iterations=2, candidates=10, first_iterations=2, first_candidates=12, samples=3
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ContextModel:
    return export_small_model(tmp_path_factory.mktemp("model") / "pendulum")


class Recording(CrossEntropyMethod):
    """The paper's planner, noting the horizons that it is asked for."""

    def __init__(self) -> None:
        super().__init__(FEW, np.array([-2.0]), np.array([2.0]))
        self.horizons: list[int] = []
        self.advances = self.resets = 0

    def advance(self) -> None:
        self.advances += 1
        super().advance()

    def reset(self) -> None:
        self.resets += 1
        super().reset()

    def plan(
        self, objective: Objective, horizon: int, rng: np.random.Generator, deadline: float | None = None
    ) -> Plan:
        self.horizons.append(horizon)
        return super().plan(objective, horizon, rng, deadline)


def quick_planner(settings: PlannerSettings = QUICK) -> Planner:
    return make_planner(settings, PLANT.spec.action_low, PLANT.spec.action_high)


def run(
    model: ContextModel, settings: CalibrationSettings, planner: Planner | None, seed: int = 0
) -> SimulatedCalibration:
    calibration = Calibration(model, settings, planner, seed)
    return calibrate_simulated(PLANT, CONTEXT, calibration, np.random.default_rng(7))


def test_mpc_replans_with_a_shrinking_horizon(model: ContextModel) -> None:
    planner = Recording()
    result = run(model, CalibrationSettings("mpc", transitions=6, horizon=4), planner)
    assert planner.horizons == [4, 4, 4, 3, 2, 1]
    assert [len(plan.actions) for plan in result.plans] == planner.horizons


def test_open_loop_plans_once_for_all_transitions(model: ContextModel) -> None:
    planner = Recording()
    result = run(model, CalibrationSettings("open_loop", transitions=6, horizon=4), planner)
    assert planner.horizons == [6]
    np.testing.assert_array_equal(result.actions[0], result.plans[0].actions)
    assert all(plan.finished for plan in result.plans)


def test_random_calibration_needs_no_planner_and_fills_the_range(model: ContextModel) -> None:
    result = run(model, CalibrationSettings("random", transitions=200), None)
    assert np.abs(result.actions).max() <= 2.0
    assert result.actions.min() < -1.8 and result.actions.max() > 1.8


@pytest.mark.parametrize("scheme", ["open_loop", "mpc"])
def test_the_planned_schemes_need_a_planner(model: ContextModel, scheme: str) -> None:
    with pytest.raises(ValueError, match="needs a planner"):
        Calibration(model, CalibrationSettings(scheme), None, 0)  # type: ignore[arg-type]


def test_the_belief_holds_the_transitions_of_all_rollouts(model: ContextModel) -> None:
    planner = Recording()
    result = run(model, CalibrationSettings("mpc", transitions=3, rollouts=3, horizon=2), planner)
    assert planner.horizons == [2, 2, 1] * 3
    before, after = result.observations[:, :-1].reshape(9, 3), result.observations[:, 1:].reshape(9, 3)
    expected = model.belief(before, result.actions.reshape(9, 1), after)
    assert result.belief.transitions == 9
    np.testing.assert_allclose(result.belief.embedding, expected.embedding, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(result.belief.std, expected.std, rtol=1e-5)


def test_entropy_falls_and_counts_from_the_prior(model: ContextModel) -> None:
    calibration = Calibration(model, CalibrationSettings("random", transitions=5), None, 0)
    result = calibrate_simulated(PLANT, CONTEXT, calibration, np.random.default_rng(0))
    entropies = [belief.entropy for belief in result.beliefs]
    assert (np.diff(entropies) <= 1e-5).all()
    assert calibration.initial_entropy == model.prior.entropy
    assert calibration.information_gained == pytest.approx(entropies[0] - entropies[-1])


def test_a_calibration_can_start_from_an_earlier_belief(model: ContextModel) -> None:
    first = run(model, CalibrationSettings("random", transitions=4), None)
    calibration = Calibration(
        model, CalibrationSettings("random", transitions=2), None, 1, start=first.belief
    )
    assert calibration.initial_entropy == first.belief.entropy
    result = calibrate_simulated(PLANT, CONTEXT, calibration, np.random.default_rng(1))
    assert result.belief.transitions == 6


@pytest.mark.parametrize("settings", [FEW, QUICK])
def test_the_same_seed_gives_the_same_run(model: ContextModel, settings: PlannerSettings) -> None:
    schedule = CalibrationSettings("mpc", transitions=4, horizon=3)
    first, again, other = (run(model, schedule, quick_planner(settings), seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.actions, again.actions)
    assert first.belief.entropy == again.belief.entropy
    assert [plan.score for plan in first.plans] != [plan.score for plan in other.plans]


def test_calls_out_of_order_are_refused(model: ContextModel) -> None:
    calibration = Calibration(model, CalibrationSettings("random", transitions=1, rollouts=2), None, 0)
    with pytest.raises(RuntimeError, match="no new rollout is due"):
        calibration.begin_rollout()
    calibration.observe(DOWN, [0.5], DOWN)
    assert calibration.rollout_done and not calibration.done
    with pytest.raises(RuntimeError, match="begin the next rollout"):
        calibration.observe(DOWN, [0.5], DOWN)
    with pytest.raises(RuntimeError, match="begin the next rollout"):
        calibration.next_action(DOWN)
    calibration.begin_rollout()
    calibration.observe(DOWN, [0.5], DOWN)
    assert calibration.done


def test_a_bad_transition_changes_nothing(model: ContextModel) -> None:
    calibration = Calibration(model, CalibrationSettings("random", transitions=3), None, 0)
    for broken in ([np.nan, 0.0, 0.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match="following"):
            calibration.observe(DOWN, [0.5], broken)
    assert calibration.step == 0 and calibration.belief is model.prior


def test_fallback_is_the_previous_plan_shifted(model: ContextModel) -> None:
    calibration = Calibration(model, CalibrationSettings("mpc", transitions=5, horizon=4), quick_planner(), 0)
    np.testing.assert_array_equal(calibration.fallback().actions, [[0.0]])
    plan = calibration.next_action(DOWN)
    calibration.observe(DOWN, plan.actions[0], DOWN)
    once = calibration.fallback()
    np.testing.assert_array_equal(once.actions, plan.actions[1:])
    assert not once.finished
    calibration.observe(DOWN, once.actions[0], DOWN)
    np.testing.assert_array_equal(calibration.fallback().actions, plan.actions[2:])


def test_fallback_after_lost_states_goes_on_with_the_plan(model: ContextModel) -> None:
    calibration = Calibration(model, CalibrationSettings("mpc", transitions=5, horizon=4), quick_planner(), 0)
    plan = calibration.next_action(DOWN, flight_step=3)  # three were executed, none was observed
    np.testing.assert_array_equal(calibration.fallback().actions, plan.actions)
    np.testing.assert_array_equal(calibration.fallback(flight_step=4).actions, plan.actions[1:])


def test_planning_ahead_of_the_observation(model: ContextModel) -> None:
    planner = Recording()
    calibration = Calibration(model, CalibrationSettings("mpc", transitions=3, horizon=3), planner, 0)
    plan = calibration.next_action(DOWN)
    predicted = calibration.predict(DOWN, plan.actions[0])
    assert predicted.shape == (3,)
    calibration.next_action(predicted, ahead=1)
    assert planner.horizons == [3, 2]
    with pytest.raises(RuntimeError, match="only 3 transitions"):
        calibration.next_action(predicted, ahead=3)


def test_open_loop_goes_on_in_its_plan_where_states_were_lost(model: ContextModel) -> None:
    settings = CalibrationSettings("open_loop", transitions=6)
    planner = Recording()
    calibration = Calibration(model, settings, planner, 0)
    plan = calibration.next_action(DOWN)
    calibration.observe(DOWN, plan.actions[0], DOWN)
    # The states after actions 1 and 2 were lost: one transition is known, three actions are over.
    rest = calibration.next_action(DOWN, flight_step=3)
    np.testing.assert_array_equal(rest.actions, plan.actions[3:])
    calibration.observe(DOWN, rest.actions[0], DOWN)
    # All six are over, four transitions are missing: they are planned for.
    again = calibration.next_action(DOWN, flight_step=6)
    assert planner.horizons == [6, 4] and len(again.actions) == 4
    rest = calibration.next_action(DOWN, flight_step=7)
    np.testing.assert_array_equal(rest.actions, again.actions[1:])


def test_mpc_shifts_its_warm_start_by_the_actions_that_were_executed(model: ContextModel) -> None:
    planner = Recording()
    calibration = Calibration(model, CalibrationSettings("mpc", transitions=9, horizon=9), planner, 0)
    calibration.next_action(DOWN)
    calibration.observe(DOWN, [0.5], DOWN)
    calibration.next_action(DOWN, ahead=1, flight_step=5)
    assert planner.advances == 5 and planner.horizons == [9, 7]


def test_a_flight_that_begins_anew_leaves_its_plan_behind(model: ContextModel) -> None:
    planner = Recording()
    calibration = Calibration(model, CalibrationSettings("open_loop", transitions=5), planner, 0)
    plan = calibration.next_action(DOWN)
    calibration.observe(DOWN, plan.actions[0], DOWN)
    calibration.next_action(DOWN, flight_step=1)
    before = planner.resets
    again = calibration.next_action(DOWN, flight_step=0)
    assert planner.resets == before + 1 and planner.horizons == [5, 4] and len(again.actions) == 4


def test_a_deadline_cuts_planning_short(model: ContextModel) -> None:
    calibration = Calibration(model, CalibrationSettings("mpc"), quick_planner(), 0)
    plan = calibration.next_action(DOWN, deadline=time.monotonic() - 1.0)
    assert not plan.finished and np.isfinite(plan.actions).all()


@pytest.mark.parametrize("name", plant_names())
def test_the_papers_numbers(name: str) -> None:
    expected = {"pendulum": ("mpc", 30, 20), "mountain_car": ("mpc", 50, 30)}.get(name, ("open_loop", 1, 1))
    settings = default_calibration(name)
    assert (settings.scheme, settings.transitions, settings.horizon) == expected


@pytest.mark.parametrize("change", [{"scheme": "best"}, {"transitions": 0}, {"rollouts": 0}, {"horizon": 0}])
def test_impossible_settings_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        replace(CalibrationSettings(), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("plant_name", ["toy_inner", "mountain_car"])
def test_all_systems_calibrate(plant_name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    plant = get_plant(plant_name)
    model = export_small_model(tmp_path_factory.mktemp("model") / plant_name, "gru", plant_name)
    planner = make_planner(QUICK, plant.spec.action_low, plant.spec.action_high)
    settings = replace(default_calibration(plant_name), transitions=2)
    context = plant.sample_context(np.random.default_rng(0), 1)[0]
    result = calibrate_simulated(
        plant, context, Calibration(model, settings, planner, 0), np.random.default_rng(0)
    )
    assert result.belief.transitions == 2 and np.isfinite(result.belief.entropy)


def test_a_search_on_a_device_equals_the_plain_one(model: ContextModel) -> None:
    planner = quick_planner(PaperPlannerSettings(iterations=3, candidates=60, elites=8, samples=4))
    beta = model.prior.sample(np.random.default_rng(0), 4)
    plain = ExpectedInformationGain(model).bind(DOWN, model.prior, beta)
    on_device = ExpectedInformationGain(model, runner=DeviceRunner(model, "gain", "cpu"))
    bound = on_device.bind(DOWN, model.prior, beta)
    assert plain.device_search is None and bound.device_search is not None
    plans = [planner.plan(objective, 5, np.random.default_rng(1)) for objective in (plain, bound)]
    np.testing.assert_allclose(plans[1].actions, plans[0].actions, atol=1e-4)
    assert plans[1].score == pytest.approx(plans[0].score, rel=1e-4)


def test_swing_up_cost_is_gyms() -> None:
    angle, speed, torque = np.array([3.0, -2.0, 0.1]), np.array([1.0, -7.0, 0.0]), np.array([0.5, -2.0, 1.0])
    states = np.stack([np.cos(angle), np.sin(angle), speed], axis=1)
    np.testing.assert_allclose(
        swing_up_cost(states, torque[:, None]), angle**2 + 0.1 * speed**2 + 0.001 * torque**2, rtol=1e-6
    )


@pytest.mark.parametrize("samples", [1, 3])
def test_the_swing_up_objective_averages_predicted_costs(model: ContextModel, samples: int) -> None:
    rng = np.random.default_rng(2)
    beta = model.prior.sample(rng, samples)
    actions = rng.uniform(-2, 2, (4, 6, 1)).astype(np.float32)
    scores = SwingUpCost(model).bind(DOWN, model.prior, beta)(actions)
    expected = np.zeros((4, samples))
    for k in range(4):
        for s in range(samples):
            means = imagined_states(model, DOWN, actions[k], beta[s])[1:]
            expected[k, s] = -swing_up_cost(means, actions[k]).sum()
    np.testing.assert_allclose(scores, expected.mean(axis=1), rtol=1e-4)


def test_swing_up_of_another_plant_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    car = export_small_model(tmp_path_factory.mktemp("model") / "mountain_car", "residual", "mountain_car")
    with pytest.raises(ValueError, match="swing-up needs"):
        SwingUpCost(car)


@pytest.mark.parametrize("samples", [0, 4])
def test_swing_up_episodes_reproduce(model: ContextModel, samples: int) -> None:
    episodes = []
    for _ in range(2):
        controller = SwingUp(model, quick_planner(), 3, samples)
        rng = np.random.default_rng(0)
        episodes.append(swing_up_simulated(PLANT, CONTEXT, controller, model.prior, rng, decisions=4))
    np.testing.assert_array_equal(episodes[0].actions, episodes[1].actions)
    assert episodes[0].return_ == pytest.approx(episodes[0].rewards.sum())
