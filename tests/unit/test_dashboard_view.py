"""What the page is told: the right numbers, only once, and nothing that JSON does not know."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.recordings import belief_item, info_item, pendulum_states, state_items

from explore_context.dashboard.coverage import TerrainCoverage, true_terrain
from explore_context.dashboard.hub import Hub
from explore_context.dashboard.series import Series
from explore_context.plants import get_plant
from explore_context.plants.mountain_car import terrain


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def live_hub() -> Hub:
    return Hub({"kind": "live", "control": False}, Clock())


def feed(hub: Hub, transitions: int, seed: int = 1, robot: str = "/") -> None:
    """A calibration: info, prior, then state and belief in turn."""
    hub.post(robot, "info", info_item().message)
    hub.post(robot, "belief", belief_item(0, 3.0).message)
    for k, item in enumerate(state_items(pendulum_states(seed, transitions))):
        hub.post(robot, "state", item.message)
        if k:
            hub.post(robot, "belief", belief_item(k, 3.0 - 0.1 * k).message)
    hub.apply()


def snapshot(hub: Hub) -> dict[str, Any]:
    return dict(json.loads(hub.snapshot()))


def changes(hub: Hub) -> dict[str, Any]:
    message = hub.take_changes()
    return {} if message is None else json.loads(message)


def diagnostics(name: str, level: int, message: str, **values: str) -> Any:
    entries = [SimpleNamespace(key=key, value=value) for key, value in values.items()]
    status = SimpleNamespace(name=name, level=bytes([level]), message=message, values=entries)
    return SimpleNamespace(status=[status])


def test_a_page_that_comes_late_sees_the_same_as_one_that_was_there() -> None:
    hub = live_hub()
    feed(hub, 5)
    first = changes(hub)["robots"]["/"]
    hub.post("/", "belief", belief_item(6, 2.0, status=2).message)
    hub.apply()
    second = changes(hub)["robots"]["/"]
    assert second["series"]["belief"] == {"add": [[6, 2.0, 1.0, 0.25]]}
    late = snapshot(hub)["robots"]["/"]
    assert (
        late["series"]["belief"]["set"]
        == first["series"]["belief"]["add"] + second["series"]["belief"]["add"]
    )
    assert late["belief"] == second["belief"] and late["belief"]["status"] == "calibrated"
    assert changes(hub) == {}


def test_quadrants_are_known_once_their_transitions_are_in_the_belief() -> None:
    hub = live_hub()
    samples = pendulum_states(3, 30)
    angles = [np.arctan2(sample.observation[1], sample.observation[0]) for sample in samples]
    visited = {int((angle + np.pi) // (np.pi / 2)) for angle in angles}
    hub.post("/", "info", info_item().message)
    hub.post("/", "belief", belief_item(0, 3.0).message)
    for item in state_items(samples):
        hub.post("/", "state", item.message)
    hub.apply()
    assert snapshot(hub)["robots"]["/"]["coverage"] == {"quadrants": [0, 0, 0, 0]}  # nothing learned yet
    hub.post("/", "belief", belief_item(30, 1.0).message)
    hub.apply()
    counts = snapshot(hub)["robots"]["/"]["coverage"]["quadrants"]
    assert {k for k, count in enumerate(counts) if count} == visited


@pytest.mark.parametrize("description_first", [True, False])
def test_a_view_that_begins_late_does_not_guess_what_was_covered(description_first: bool) -> None:
    hub = live_hub()
    calibrated = belief_item(12, 1.0, status=2).message
    greeting = [("info", info_item().message), ("belief", calibrated)]
    for kind, message in greeting if description_first else reversed(greeting):
        hub.post("/", kind, message)
    for item in state_items(pendulum_states(3, 10)):  # the plant goes on, the belief does not
        hub.post("/", "state", item.message)
    hub.apply()
    robot = snapshot(hub)["robots"]["/"]
    assert robot["coverage"] == {"quadrants": [0, 0, 0, 0], "unseen": 12}
    assert robot["series"]["belief"]["set"] == [[12, 1.0, 2.0, 0.25]]
    feed(hub, 3, seed=4)
    assert "unseen" not in snapshot(hub)["robots"]["/"]["coverage"]


def test_a_view_that_begins_in_the_middle_counts_what_it_sees() -> None:
    hub = live_hub()
    states = [item.message for item in state_items(pendulum_states(3, 9))]
    hub.post("/", "info", info_item().message)
    for step in range(5, 10):
        hub.post("/", "state", states[step])
        hub.post("/", "belief", belief_item(step, 2.0 - 0.1 * step).message)
    hub.apply()
    coverage = snapshot(hub)["robots"]["/"]["coverage"]
    assert coverage["unseen"] == 5 and 4 <= sum(coverage["quadrants"]) <= 8


def test_the_last_belief_may_overtake_its_state() -> None:
    hub = live_hub()
    feed(hub, 3)
    before = sum(snapshot(hub)["robots"]["/"]["coverage"]["quadrants"])
    states = [item.message for item in state_items(pendulum_states(1, 6))]
    hub.post("/", "belief", belief_item(4, 1.0, status=2).message)
    for state in states[4:]:
        hub.post("/", "state", state)
    hub.apply()
    coverage = snapshot(hub)["robots"]["/"]["coverage"]
    assert "unseen" not in coverage
    assert 1 <= sum(coverage["quadrants"]) - before <= 2, "one transition, which may touch two quadrants"


def test_a_calibrator_that_is_gone_calibrates_no_more() -> None:
    hub = live_hub()
    feed(hub, 3)
    hub.post("/", "calibrator", True)
    hub.apply()
    assert snapshot(hub)["robots"]["/"]["belief"]["status"] == "calibrating"
    hub.post("/", "calibrator", False)
    hub.apply()
    assert snapshot(hub)["robots"]["/"]["belief"]["status"] == "lost"
    hub.post("/", "belief", belief_item(3, 2.0, status=2).message)
    hub.post("/", "calibrator", False)  # what was learned before it ended stays
    hub.apply()
    assert snapshot(hub)["robots"]["/"]["belief"]["status"] == "calibrated"


@pytest.mark.parametrize(("status", "state"), [(0, "lost"), (2, "running")])
def test_a_restarted_calibrator_has_forgotten_its_goal(status: int, state: str) -> None:
    hub = live_hub()
    feed(hub, 3)
    hub.post("/", "goal", {"state": "running", "message": ""})
    hub.post("/", "belief", belief_item(0 if status == 0 else 3, 3.0, status=status).message)
    hub.apply()
    assert snapshot(hub)["robots"]["/"]["goal"]["state"] == state


def test_a_new_calibration_and_a_new_session_begin_anew() -> None:
    hub = live_hub()
    feed(hub, 8)
    assert sum(snapshot(hub)["robots"]["/"]["coverage"]["quadrants"]) >= 8
    hub.post("/", "belief", belief_item(0, 3.0).message)
    hub.apply()
    robot = snapshot(hub)["robots"]["/"]
    assert robot["coverage"] == {"quadrants": [0, 0, 0, 0]} and len(robot["series"]["belief"]["set"]) == 1
    hub.post("/", "info", info_item(session="b" * 32).message)
    hub.post("/", "belief", belief_item(8, 2.2, status=5).message)  # stale: of the old session
    hub.apply()
    robot = snapshot(hub)["robots"]["/"]
    assert robot["series"]["belief"]["set"] == [] and robot["series"]["states"]["set"] == []
    assert robot["belief"]["status"] == "stale" and robot["info"]["session"] == "b" * 32


def test_non_finite_numbers_reach_the_page_as_null() -> None:
    hub = live_hub()
    item = next(iter(state_items(pendulum_states(1, 0))))
    item.message.observation = np.array([np.nan, np.inf, 1.0])
    hub.post("/", "state", item.message)
    hub.apply()
    assert snapshot(hub)["robots"]["/"]["state"]["observation"] == [None, None, 1.0]


def test_messages_that_make_no_sense_do_not_stop_the_page() -> None:
    hub = live_hub()
    feed(hub, 3)
    for k, item in enumerate(state_items(pendulum_states(1, 3, rollout=1))):
        item.message.observation = np.ones(1)  # a pendulum shows three numbers
        hub.post("/", "state", item.message)
        hub.post("/", "belief", belief_item(4 + k, 1.0).message)
    hub.apply()
    assert hub.refused == 4
    robot = snapshot(hub)["robots"]["/"]
    assert robot["belief"]["transitions"] == 7 and robot["state"]["step"] == 3


def test_a_message_without_its_fields_does_not_stop_the_page() -> None:
    """As in a recording that another version made."""
    hub = live_hub()
    hub.post("/", "state", SimpleNamespace(session_id="a", rollout=0, step=1))
    hub.post("/", "something_new", SimpleNamespace())
    hub.post_diagnostics(SimpleNamespace())
    feed(hub, 3)
    assert hub.refused == 3
    assert snapshot(hub)["robots"]["/"]["belief"]["transitions"] == 3


def test_robots_nodes_and_faults_are_kept_apart() -> None:
    hub = live_hub()
    clock = hub.clock
    for robot in ("/robot1", "/robot2"):
        hub.post(robot, "online", True)
    hub.post_diagnostics(diagnostics("robot1/plant: plant", 0, "running", mode="lockstep"))
    hub.post_diagnostics(diagnostics("robot2/plant: plant", 2, "disk full"))
    hub.post_diagnostics(diagnostics("elsewhere/camera: camera", 2, "lens dirty"))
    hub.post_lifecycle("/robot1/calibrator", "active")
    hub.apply()
    robots = snapshot(hub)["robots"]
    assert set(robots) == {"/robot1", "/robot2"}
    assert [(n["name"], n["lifecycle"]) for n in robots["/robot1"]["nodes"]] == [
        ("calibrator", "active"),
        ("plant", ""),
    ]
    assert "faults" not in robots["/robot1"] or robots["/robot1"]["faults"] == []
    assert robots["/robot2"]["faults"][0]["message"] == "disk full"
    clock.now = 10.0  # type: ignore[attr-defined]
    hub.apply()
    robots = snapshot(hub)["robots"]
    assert robots["/robot1"]["nodes"][1]["level"] == "stale"


def test_long_series_are_cut_alike_on_both_sides() -> None:
    series = Series(limit=10)
    for k in range(15):
        series.add(k, float("nan"))
    assert series.take_changes() == {"add": [[float(k), None] for k in range(15)]}
    assert series.snapshot()["set"] == [[float(k), None] for k in range(5, 15)]
    series.clear()
    series.add(1, 2)
    assert series.take_changes() == {"set": [[1.0, 2.0]], "limit": 10}
    assert series.take_changes() is None


def test_the_felt_terrain_is_the_terrain() -> None:
    plant, rng = get_plant("mountain_car"), np.random.default_rng(5)
    context = plant.sample_context(rng, 1)
    coverage = TerrainCoverage()
    state = np.array([[0.0, 0.0]])
    assert coverage.describe() == {"interval": None, "profile": []}
    for k in range(300):
        action = np.array([[3.0 if (k // 8) % 2 else -3.0]])
        following = plant.step(state, action, context, rng)
        coverage.add(state[0], action[0], following[0])
        state = following
    found = coverage.describe()
    x, height = np.array(found["profile"]).T
    assert x[-1] - x[0] > 0.2 and found["interval"][0] <= x[0] + 0.05
    truth, _ = terrain(x[None], context)
    difference = height - truth[0]
    assert np.abs(difference - difference.mean()).max() < 0.05
    assert len(true_terrain(context[0].tolist())) == 81 and true_terrain([1.0]) == []
