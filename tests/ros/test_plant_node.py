"""The plant node on an in-process graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from explore_context_interfaces.msg import PlantAction, PlantInfo, PlantState
from explore_context_interfaces.srv import Reset
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from tests.helpers.ros import Graph

from explore_context.nodes import qos
from explore_context.nodes.parameters import ParameterError
from explore_context.nodes.plant_node import PlantNode


class Plant:
    """A plant node and what it says."""

    def __init__(self, graph: Graph, plant: str = "pendulum", **parameters) -> None:
        self.graph = graph
        self.states: list[PlantState] = graph.collect(PlantState, "state", qos.STATE)
        self.infos: list[PlantInfo] = graph.collect(PlantInfo, "plant_info", qos.LATCHED)
        self.diagnostics: list[DiagnosticArray] = graph.collect(DiagnosticArray, "/diagnostics")
        self.node = graph.add(PlantNode(plant, **graph.options(**parameters)))
        self.actions = graph.publisher(PlantAction, "action", qos.ACTION)
        graph.spin_until(lambda: self.states and self.infos, what="state and plant_info")

    @property
    def state(self) -> PlantState:
        return self.states[-1]

    def send(self, command: list[float], step: int | None = None, sender: str = "tester", **fields) -> None:
        message = PlantAction(session_id=self.state.session_id, rollout=self.state.rollout, sender=sender)
        message.step = self.state.step if step is None else step
        message.command = command
        for name, value in fields.items():
            setattr(message, name, value)
        self.actions.publish(message)

    def advance(self, command: float) -> PlantState:
        step = self.state.step
        self.send([command])
        self.graph.spin_until(lambda: self.state.step == step + 1, what=f"step {step + 1}")
        return self.state

    def reset(self, **fields) -> Reset.Response:
        return self.graph.call(Reset, "plant/reset", Reset.Request(**fields))

    def wait_for_session(self, session: str) -> None:
        seen = (self.infos, self.states)
        self.graph.spin_until(
            lambda: all(list_[-1].session_id == session for list_ in seen), what="the session"
        )

    def values(self) -> dict[str, str]:
        """Of a diagnostic status from now on."""
        number = len(self.diagnostics)
        self.graph.spin_until(lambda: len(self.diagnostics) > number, what="diagnostics")
        return {pair.key: pair.value for pair in self.diagnostics[-1].status[0].values}


def test_lockstep_advances_with_every_action_and_never_alone(graph: Graph) -> None:
    plant = Plant(graph, hidden_context=[1.0, 1.0, 1.0, 1.0])
    assert (plant.state.step, list(plant.state.applied_action), plant.state.reward) == (0, [], 0.0)
    first = plant.advance(1.5)
    assert list(first.applied_action) == [1.5] and first.reward < 0
    assert len(first.observation) == 3
    graph.spin_for(0.5)
    assert plant.state.step == 1


def test_lockstep_repeats_an_unanswered_state_unchanged(graph: Graph) -> None:
    plant = Plant(graph, state_republish_period=0.05)
    plant.advance(1.0)
    plant.states.clear()
    graph.spin_until(lambda: len(plant.states) >= 3, what="three repetitions")
    assert all(state == plant.states[0] for state in plant.states)


def test_late_joiner_gets_info_and_state(graph: Graph) -> None:
    Plant(graph)
    late = graph.add(type(graph.node)("late", **graph.options()))
    states = graph.collect(PlantState, "state", qos.STATE, late)
    infos = graph.collect(PlantInfo, "plant_info", qos.LATCHED, late)
    graph.spin_until(lambda: states and infos, 3.0, what="state and plant_info at the late joiner")


def test_info_describes_the_plant(graph: Graph) -> None:
    plant = Plant(graph, "mountain_car", publish_hidden_context=True)
    info = plant.infos[-1]
    assert (info.plant, info.mode, info.period, info.commander) == ("mountain_car", "lockstep", 0.05, "")
    assert list(info.observation_names) == ["position", "velocity"]
    assert (list(info.action_low), list(info.action_high)) == ([-3.0], [3.0])
    assert len(info.hidden_context) == 21
    assert info.session_id == plant.state.session_id


@pytest.mark.parametrize(
    ("plant", "names"),
    [("pendulum", ["pendulum_joint"]), ("mountain_car", ["car_joint"]), ("toy_inner", ["x1", "x2"])],
)
def test_joint_states(graph: Graph, plant: str, names: list[str]) -> None:
    joints = graph.collect(JointState, "joint_states")
    made = Plant(graph, plant)
    made.advance(1.0)
    graph.spin_until(
        lambda: joints and joints[-1].header.stamp == made.state.header.stamp, what="joint states"
    )
    assert list(joints[-1].name) == names and len(joints[-1].position) == len(names)
    if plant == "pendulum":
        assert math.cos(joints[-1].position[0]) == pytest.approx(made.state.observation[0])
        assert joints[-1].velocity[0] == made.state.observation[2]
        assert list(joints[-1].effort) == [1.0]


def test_bad_actions_are_dropped_counted_and_change_nothing(graph: Graph) -> None:
    plant = Plant(graph)
    plant.advance(1.0)
    before = plant.state
    plant.send([math.nan])
    plant.send([-math.inf])
    plant.send([1.0, 2.0])
    plant.send([1.0], step=0)
    plant.send([1.0], step=7)
    plant.send([1.0], session_id="another")
    plant.send([1.0], rollout=5)
    plant.send([1.0], sender="")
    plant.send([1.0], sender="intruder")
    rejections = plant.node._rejections
    graph.spin_until(lambda: rejections.total == 9, what="nine rejections")
    assert plant.state == before and plant.node._session.step == 1
    values = plant.values()
    assert values["rejected"] == "9" and values["rejected.non_finite"] == "2"
    for reason in (
        "wrong_size",
        "stale_step",
        "future_step",
        "foreign_session",
        "foreign_rollout",
        "missing_sender",
        "second_commander",
    ):
        assert values[f"rejected.{reason}"] == "1"
    assert values["commander"] == "tester" and values["mode"] == "lockstep"
    plant.advance(-1.0)


def test_commander_is_shown_released_by_silence_and_replaced(graph: Graph) -> None:
    plant = Plant(graph, watchdog_time=0.3)
    plant.advance(1.0)
    graph.spin_until(lambda: plant.infos[-1].commander == "tester", what="the commander on plant_info")
    graph.spin_until(lambda: plant.infos[-1].commander == "", 3.0, what="the release")
    assert plant.state.step == 1  # lockstep does not move alone
    plant.send([0.5], sender="other")
    graph.spin_until(lambda: plant.infos[-1].commander == "other", what="the new commander")


def test_commander_gives_up_with_an_empty_command(graph: Graph) -> None:
    plant = Plant(graph)
    plant.advance(1.0)
    plant.send([])
    graph.spin_until(lambda: plant.infos[-1].commander == "", 2.0, what="the release")
    assert plant.node._session.step == 1


def test_realtime_advances_on_its_own_and_stops_a_silent_commanders_motor(graph: Graph) -> None:
    plant = Plant(graph, mode="realtime", period=0.02, watchdog_time=0.2)
    graph.spin_until(lambda: plant.state.step >= 5, what="five steps")
    assert list(plant.state.applied_action) == [0.0]
    plant.send([1.5], step=plant.state.step + 3)
    graph.spin_until(lambda: list(plant.state.applied_action) == [1.5], what="the action")
    began = next(state for state in plant.states if list(state.applied_action) == [1.5])
    graph.spin_until(lambda: list(plant.state.applied_action) == [0.0], 2.0, what="zero after silence")
    graph.spin_until(lambda: plant.infos[-1].commander == "", what="the release")
    held = (plant.state.step - began.step) * 0.02
    assert held <= 0.2 + 0.02


def test_realtime_steps_are_consecutive(graph: Graph) -> None:
    plant = Plant(graph, mode="realtime", period=0.01, watchdog_time=0.2)
    graph.spin_until(lambda: plant.state.step >= 30, what="thirty steps")
    steps = [state.step for state in plant.states]
    assert steps == list(range(steps[0], steps[0] + len(steps)))


def test_reset_same_system(graph: Graph) -> None:
    plant = Plant(graph)
    plant.advance(1.0)
    session = plant.state.session_id
    answer = plant.reset(state=[0.0, 0.0])
    assert (answer.success, answer.session_id) == (True, session)
    graph.spin_until(lambda: plant.state.rollout == 1, what="the new rollout")
    assert (plant.state.step, plant.state.session_id) == (0, session)
    np.testing.assert_allclose(plant.state.observation, [1.0, 0.0, 0.0])
    plant.advance(0.5)


def test_reset_new_system_with_seed_is_repeatable(graph: Graph) -> None:
    plant = Plant(graph, publish_hidden_context=True)
    contexts = []
    for _ in range(2):
        answer = plant.reset(new_system=True, seed=7)
        plant.wait_for_session(answer.session_id)
        contexts.append(list(plant.infos[-1].hidden_context))
    assert contexts[0] == contexts[1]
    assert len({info.session_id for info in plant.infos}) == 3


def test_reset_without_a_seed_draws_another_system_each_time(graph: Graph) -> None:
    plant = Plant(graph, publish_hidden_context=True)
    contexts = []
    for _ in range(2):
        plant.wait_for_session(plant.reset(new_system=True).session_id)
        contexts.append(list(plant.infos[-1].hidden_context))
    assert contexts[0] != contexts[1]


def test_bad_reset_is_refused_with_a_reason(graph: Graph) -> None:
    plant = Plant(graph)
    plant.advance(1.0)
    answer = plant.reset(initial_state_mode="sideways")
    assert not answer.success and "choose one of" in answer.message
    assert plant.node._session.step == 1


def set_parameter(graph: Graph, parameter: Parameter):
    request = SetParameters.Request(parameters=[parameter.to_parameter_msg()])
    return graph.call(SetParameters, "plant/set_parameters", request).results[0]


def test_parameters_at_run_time(graph: Graph) -> None:
    plant = Plant(graph)
    session = plant.state.session_id
    assert not set_parameter(graph, Parameter("mode", value="realtime")).successful
    refused = set_parameter(graph, Parameter("hidden_context", value=[1.0]))
    assert not refused.successful and "factor_1" in refused.reason
    assert not set_parameter(graph, Parameter("watchdog_time", value=-1.0)).successful
    assert plant.node._session.session_id == session
    assert set_parameter(graph, Parameter("watchdog_time", value=1.5)).successful
    assert plant.node._session.authority.watchdog_time == 1.5
    assert set_parameter(graph, Parameter("hidden_context", value=[1.0] * 4)).successful
    graph.spin_until(lambda: plant.state.session_id != session, what="a new session")


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"plant": "unicycle"}, "unknown plant 'unicycle'"),
        ({"mode": "sometimes"}, "choose one of lockstep, realtime"),
        ({"hidden_context": [1.0, 2.0]}, "factor_1, factor_2"),
        ({"hidden_context": [1.0, 1.0, 1.0, 1e308]}, "entries beyond"),
        ({"mode": "realtime", "watchdog_time": 0.1}, "two periods"),
        ({"initial_state_mode": "sideways"}, "choose one of training, calibration"),
        ({"seed": -1}, "outside"),
        ({"seed": "many"}, "must be of type int"),
    ],
)
def test_bad_parameters_are_refused_at_start(graph: Graph, parameters, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        PlantNode(**graph.options(**parameters))


def test_every_parameter_has_a_description(graph: Graph) -> None:
    node = graph.add(PlantNode(**graph.options()))
    for name in ("plant", "mode", "seed", "hidden_context", "watchdog_time", "period"):
        descriptor = node.describe_parameter(name)
        assert descriptor.description
    assert node.describe_parameter("seed").integer_range[0].from_value == 0
    assert node.describe_parameter("mode").read_only


def test_two_robots_in_two_namespaces(graph: Graph) -> None:
    lists = []
    for name in ("robot1", "robot2"):
        lists.append(graph.collect(PlantState, f"/{name}/state", qos.STATE))
        graph.add(PlantNode(**graph.options(namespace=name)))
    graph.spin_until(lambda: all(lists), what="both robots")
    assert lists[0][0].session_id != lists[1][0].session_id
