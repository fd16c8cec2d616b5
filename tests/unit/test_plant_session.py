"""Sessions, rollouts and steps of a simulated plant, without ROS."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from explore_context.nodes.plant_session import PlantSession, ResetRequest, SessionSettings
from explore_context.nodes.samples import ActionCommand, RejectedMessage
from explore_context.plants import get_plant


def session(plant: str = "pendulum", mode: str = "lockstep", **settings) -> PlantSession:
    made = get_plant(plant)
    numbers = itertools.count()
    chosen = SessionSettings(mode=mode, period=made.spec.dt, watchdog_time=0.5, **settings)  # type: ignore[arg-type]
    return PlantSession(made, chosen, lambda: f"session_{next(numbers)}")


def command(made: PlantSession, value: float, step: int | None = None, sender: str = "a") -> ActionCommand:
    tag = made.step if step is None else step
    return ActionCommand(made.session_id, made.rollout, tag, np.array([value]), sender)


def test_lockstep_advances_by_exactly_the_plants_step() -> None:
    made = session(hidden_context=(1.0, -0.5, 2.0, 0.7))
    before = made.state.copy()
    assert made.sample().applied_action.size == 0 and made.sample().reward == 0.0
    assert made.offer(command(made, 1.5), 0.0)
    context, action = np.array([[1.0, -0.5, 2.0, 0.7]]), np.array([[1.5]])
    expected = made.plant.step(before, action, context, np.random.default_rng(0))
    sample = made.sample()
    np.testing.assert_array_equal(sample.observation, made.plant.observe(expected)[0])
    np.testing.assert_array_equal(sample.applied_action, [1.5])
    assert sample.reward == made.plant.reward(before, action, context)[0]
    assert sample.step == 1


def test_applied_action_is_the_clipped_one() -> None:
    made = session()
    made.offer(command(made, 9.0), 0.0)
    np.testing.assert_array_equal(made.sample().applied_action, [2.0])


def test_lockstep_ignores_the_same_action_twice() -> None:
    made = session()
    action = command(made, 1.0)
    made.offer(action, 0.0)
    state = made.state.copy()
    with pytest.raises(RejectedMessage):
        made.offer(action, 0.0)
    np.testing.assert_array_equal(made.state, state)
    assert made.step == 1


def test_realtime_transition_has_one_constant_action() -> None:
    made = session(mode="realtime", hidden_context=(1.0, 1.0, 1.0, 1.0))
    made.tick(0.1)
    assert made.sample().applied_action == [0.0]
    made.offer(command(made, 2.0, step=2), 0.15)  # during step 1: acts from step 2 on
    made.tick(0.2)
    assert made.sample().applied_action == [0.0]
    made.tick(0.3)
    assert made.sample().applied_action == [2.0]
    made.tick(0.4)
    assert made.sample().applied_action == [2.0]  # held
    for k in range(5, 9):
        made.tick(k * 0.1)
    assert made.sample().applied_action == [0.0]


@pytest.mark.parametrize("plant", ["toy_outer", "pendulum", "mountain_car"])
def test_same_seed_same_run(plant: str) -> None:
    def run(seed: int) -> np.ndarray:
        made = session(plant, seed=seed)
        observations = []
        for _ in range(3):
            for k in range(4):
                made.offer(command(made, 0.3 * k), 0.0)
                observations.append(made.sample().observation)
            made.reset(ResetRequest(new_system=True))
        return np.array(observations)

    np.testing.assert_array_equal(run(5), run(5))
    assert not np.array_equal(run(5), run(6))


def test_third_system_of_a_seed_does_not_depend_on_what_happened_before() -> None:
    busy, idle = session("toy_inner", seed=1), session("toy_inner", seed=1)
    for _ in range(2):
        for _ in range(7):
            busy.offer(command(busy, 1.0), 0.0)
        busy.reset(ResetRequest(new_system=True))
        idle.reset(ResetRequest(new_system=True))
    np.testing.assert_array_equal(busy.context, idle.context)
    for made in (busy, idle):
        made.offer(command(made, 0.2), 0.0)
    np.testing.assert_array_equal(busy.state, idle.state)  # the noise too


def test_reset_keeps_the_session_and_counts_the_rollout() -> None:
    made = session()
    context = made.context.copy()
    made.offer(command(made, 1.0), 0.0)
    made.reset(ResetRequest())
    assert (made.session_id, made.rollout, made.step) == ("session_0", 1, 0)
    assert made.authority.commander == "a" and made.sample().applied_action.size == 0
    np.testing.assert_array_equal(made.context, context)


def test_new_system_begins_a_session() -> None:
    made = session()
    context = made.context.copy()
    made.offer(command(made, 1.0), 0.0)
    made.reset(ResetRequest())
    made.reset(ResetRequest(new_system=True))
    assert made.authority.commander == ""
    assert (made.session_id, made.rollout, made.step) == ("session_1", 0, 0)
    assert not np.array_equal(made.context, context)


def test_reset_with_a_seed_is_repeatable() -> None:
    made = session()
    runs = []
    for _ in range(2):
        made.reset(ResetRequest(seed=9, new_system=True))
        runs.append((made.context.copy(), made.state.copy()))
        made.reset(ResetRequest())
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])
    assert made.session_id == "session_2"


def test_explicit_state_and_mode() -> None:
    made = session()
    made.reset(ResetRequest(state=(0.5, -1.0)))
    np.testing.assert_array_equal(made.state, [[0.5, -1.0]])
    made.reset(ResetRequest(initial_state_mode="training", seed=1))
    assert abs(made.state[0, 1]) > 0.05  # the calibration mode never starts so fast


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (ResetRequest(initial_state_mode="sideways"), "choose one of training, calibration"),
        (ResetRequest(state=(1.0,)), "needs 2: angle, angular_velocity"),
        (ResetRequest(state=(1.0, float("nan"))), "non-finite"),
        (ResetRequest(state=(1e200, 0.0)), r"entries beyond 1e\+06"),
        (ResetRequest(state=(1.0, 9.0)), r"angular_velocity = 9, outside \[-8, 8\]"),
        (ResetRequest(seed=-2), "seed must be"),
    ],
)
def test_bad_reset_is_refused_and_changes_nothing(request_: ResetRequest, text: str) -> None:
    made = session()
    made.offer(command(made, 1.0), 0.0)
    before = (made.session_id, made.rollout, made.step, made.authority.commander, made.state.tobytes())
    with pytest.raises(ValueError, match=text):
        made.reset(request_)
    assert before == (
        made.session_id,
        made.rollout,
        made.step,
        made.authority.commander,
        made.state.tobytes(),
    )


def test_change_of_hidden_parameters_is_another_session() -> None:
    made = session()
    made.change_hidden_context((1.0, 1.0, 1.0, 1.0))
    assert made.session_id == "session_1"
    np.testing.assert_array_equal(made.context, [[1.0] * 4])
    with pytest.raises(ValueError, match="context must have shape"):
        made.change_hidden_context((1.0,))
    np.testing.assert_array_equal(made.context, [[1.0] * 4])


def test_description_hides_the_context_unless_told() -> None:
    made = session()
    assert made.describe(hidden_context=False).hidden_context == ()
    assert made.describe(hidden_context=True).hidden_context == tuple(made.context[0])
    assert made.describe(hidden_context=False).action_high == (2.0,)
