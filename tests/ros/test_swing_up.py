"""The swing-up controller on an in-process graph: which beliefs it takes, what it does with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from explore_context_interfaces.msg import ContextBelief, PlantAction
from rclpy.parameter import Parameter
from std_msgs.msg import Float64
from tests.helpers.calibration import ACTIVATE, CONFIGURE, DEACTIVATE, Scene, quick_planner
from tests.helpers.ros import Graph

from explore_context.model import ContextModel
from explore_context.nodes import conversions, qos
from explore_context.nodes.commander_parameters import model_folder
from explore_context.nodes.samples import BeliefSample
from explore_context.nodes.swing_up_node import SwingUpNode

__all__ = ["quick_planner"]


class Stage(Scene):
    """A pendulum, a controller and a hand that publishes beliefs."""

    def __init__(self, graph: Graph, planner: str, *, plant: dict[str, Any] | None = None, **parameters: Any):
        super().__init__(graph, **(plant or {}))
        self.returns: list[Float64] = graph.collect(Float64, "swing_up_return", qos.LATCHED)
        options = {"threads": 1, "planner": planner, "episode": 5, **parameters}
        self.controller = graph.add(SwingUpNode(**graph.options(**options)))
        self.bring_up("swing_up_controller")
        self.model = ContextModel.load(model_folder("pendulum"))
        self.publisher = graph.publisher(ContextBelief, "context_belief", qos.LATCHED, subscribers=2)

    def believe(self, **changes: Any) -> None:
        """A calibrated belief about the plant of now, with ``changes``."""
        prior = self.model.prior
        facts: dict[str, Any] = {
            "session_id": self.infos[-1].session_id,
            "model_hash": self.model.model_hash,
            "mean": prior.mean.astype(float),
            "std": prior.std.astype(float),
            "entropy": prior.entropy,
            "information_gained": 0.0,
            "expected_gain": 0.0,
            "number_of_transitions": 30,
            "embedding": prior.embedding,
            "status": ContextBelief.CALIBRATED,
        }
        message = conversions.belief_message(
            BeliefSample(**{**facts, **changes}), self.graph.node.get_clock().now().to_msg()
        )
        self.publisher.publish(message)

    def waiting_for(self, text: str) -> None:
        self.graph.spin_until(
            lambda: text in self.controller._waiting_for, what=f"{text!r} in {self.controller._waiting_for!r}"
        )

    def commands(self) -> list[PlantAction]:
        return [a for a in self.actions if a.sender == "/swing_up_controller"]


def test_old_and_foreign_beliefs_are_refused(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner)
    stage.waiting_for("a context_belief")
    stage.believe(model_hash="0" * 16)
    stage.waiting_for(f"a belief of model {stage.model.model_hash}")
    stage.believe(session_id="yesterday")
    stage.waiting_for("one about yesterday")
    stage.believe(status=ContextBelief.CALIBRATING)
    stage.waiting_for("the calibration to be completed")
    stage.believe(status=ContextBelief.CANCELLED, number_of_transitions=7)
    stage.believe(mean=[0.0])
    stage.waiting_for("a well-formed belief")
    assert not stage.commands()
    assert stage.values("swing_up_controller")["rejected.belief_wrong_size"] == "1"
    stage.believe()
    graph.spin_until(stage.commands, what="a command")


def test_it_reports_the_return_and_goes_on_balancing(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner)
    stage.believe()
    graph.spin_until(lambda: stage.returns, 20.0, "the return")
    rewards = {s.step: s.reward for s in stage.states if s.rollout == 1}
    assert stage.returns[0].data == pytest.approx(sum(rewards[step] for step in range(1, 6)))
    step = stage.states[-1].step
    graph.spin_until(lambda: stage.states[-1].step > step + 3, 20.0, "balancing")
    assert float(stage.values("swing_up_controller")["return"]) == pytest.approx(
        stage.returns[0].data, rel=1e-3
    )


def test_a_reset_in_the_middle_begins_the_episode_again(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner, episode=40)
    stage.believe()
    graph.spin_until(lambda: len(stage.commands()) > 5, 20.0, "commands")
    stage.reset()
    graph.spin_until(lambda: stage.returns, 30.0, "the return")
    rollouts = sorted({s.rollout for s in stage.states})
    rewards = {s.step: s.reward for s in stage.states if s.rollout == rollouts[-1]}
    assert stage.returns[0].data == pytest.approx(sum(rewards[step] for step in range(1, 41)))


def test_a_planner_is_checked_when_it_changes_and_again_when_it_starts(
    graph: Graph, quick_planner: str
) -> None:
    stage = Stage(graph, quick_planner)
    assert "unknown planner 'nonsense'" in stage.set_parameter("swing_up_controller", "planner", "nonsense")
    text = Path(quick_planner).read_text()
    Path(quick_planner).unlink()
    stage.believe()
    graph.spin_until(lambda: "no such file" in stage.controller.problem, what="a reported failure")
    assert "given up" in stage.values("swing_up_controller")["message"]
    Path(quick_planner).write_text(text)
    stage.believe()
    graph.spin_until(lambda: stage.returns, 20.0, "the return")
    assert stage.controller.problem == ""


def test_it_stops_after_the_episode_if_told_to(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner, keep_balancing=False)
    stage.believe()
    graph.spin_until(lambda: stage.returns and not len(stage.actions[-1].command), 20.0, "the end")
    graph.spin_for(0.5)
    assert max(s.step for s in stage.states) <= 6
    graph.spin_until(lambda: stage.infos[-1].commander == "", what="the command given up")


def test_deactivation_ends_with_a_zero_action(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner)
    stage.believe()
    graph.spin_until(lambda: len(stage.commands()) > 3, 20.0, "commands")
    assert stage.change("swing_up_controller", DEACTIVATE)
    graph.spin_until(lambda: not len(stage.actions[-1].command), what="the command given up")
    assert list(stage.actions[-2].command) == [0.0]
    assert stage.change("swing_up_controller", ACTIVATE)
    number = len(stage.commands())
    graph.spin_until(lambda: len(stage.commands()) > number, 20.0, "commands again")


def test_another_system_stops_it_until_a_new_belief_comes(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner)
    stage.believe()
    graph.spin_until(lambda: len(stage.commands()) > 3, 20.0, "commands")
    old = stage.infos[-1].session_id
    stage.reset(new_system=True)
    stage.waiting_for(f"one about {old}")
    graph.spin_for(0.3)
    assert all(a.session_id == old for a in stage.commands())
    stage.believe()
    graph.spin_until(lambda: stage.commands()[-1].session_id != old, 20.0, "commands to the new system")


def test_it_waits_while_somebody_else_commands(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner)
    state = stage.states[-1]
    joystick = graph.publisher(PlantAction, "action", qos.ACTION)
    facts = {"session_id": state.session_id, "rollout": state.rollout, "sender": "/joystick"}
    joystick.publish(PlantAction(**facts, command=[0.5]))
    graph.spin_until(lambda: stage.infos[-1].commander == "/joystick", what="the joystick in command")
    stage.believe()
    stage.waiting_for("commanded by /joystick")
    joystick.publish(PlantAction(**facts, step=1))
    graph.spin_until(stage.commands, 20.0, "a command after the joystick's")


def test_realtime_swing_up(graph: Graph, quick_planner: str) -> None:
    stage = Stage(graph, quick_planner, plant={"mode": "realtime"})
    stage.believe()
    graph.spin_until(lambda: stage.returns, 20.0, "the return")


def test_a_model_of_another_plant_is_refused(graph: Graph) -> None:
    scene = Scene(graph, "mountain_car")
    graph.add(SwingUpNode(**graph.options(model="mountain_car")))
    assert not scene.change("swing_up_controller", CONFIGURE)
    assert "swing-up needs" in scene.values("swing_up_controller")["message"]


def test_planners_are_checked_when_configuring(graph: Graph) -> None:
    scene = Scene(graph)
    node = graph.add(SwingUpNode(**graph.options(planner="psychic")))
    assert not scene.change("swing_up_controller", CONFIGURE)
    assert "psychic" in scene.values("swing_up_controller")["message"]
    assert node.set_parameters([Parameter("planner", value="realtime")])[0].successful
    assert scene.change("swing_up_controller", CONFIGURE)
