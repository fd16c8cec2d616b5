"""What the page is told: the right numbers, only once, and nothing that JSON does not know."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.recordings import belief_item, info_item, pendulum_states, state_items

from explore_context.dashboard.commands import (
    Calibrate,
    Cancel,
    CommandError,
    NewSystem,
    Playback,
    parse_command,
)
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
    for item in state_items(samples):
        hub.post("/", "state", item.message)
    hub.apply()
    assert snapshot(hub)["robots"]["/"]["coverage"] == {"quadrants": [0, 0, 0, 0]}  # nothing learned yet
    hub.post("/", "belief", belief_item(30, 1.0).message)
    hub.apply()
    counts = snapshot(hub)["robots"]["/"]["coverage"]["quadrants"]
    assert {k for k, count in enumerate(counts) if count} == visited


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


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('{"command":"calibrate","robot":"/"}', Calibrate("/")),
        (
            '{"command":"calibrate","robot":"/a","scheme":"mpc","planner":"paper","transitions":5,"rollouts":2,"seed":3}',
            Calibrate("/a", "mpc", "paper", 5, 2, 3),
        ),
        ('{"command":"cancel","robot":"/"}', Cancel("/")),
        ('{"command":"new_system","robot":"/"}', NewSystem("/")),
        ('{"command":"playback","speed":2,"playing":true}', Playback(True, 2.0, None)),
    ],
)
def test_commands(text: str, command: Any) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        '{"command":"shutdown","robot":"/"}',
        '{"command":"cancel"}',
        '{"command":"cancel","robot":"robot1"}',
        '{"command":"calibrate","robot":"/","scheme":"clever"}',
        '{"command":"calibrate","robot":"/","scheme":["mpc"]}',
        '{"command":"calibrate","robot":"/","transitions":-1}',
        '{"command":"calibrate","robot":"/","transitions":true}',
        '{"command":"calibrate","robot":"/","seed":1e3}',
        '{"command":"playback","speed":NaN}',
        '{"command":"playback","speed":0}',
        '{"command":"playback","playing":1}',
    ],
)
def test_bad_commands_are_refused(text: str) -> None:
    with pytest.raises(CommandError):
        parse_command(text)
