"""The fault relay between a plant and its commander."""

from __future__ import annotations

import math
from functools import partial

from explore_context_interfaces.msg import PlantAction, PlantState
from tests.helpers.ros import Graph

from explore_context.nodes import qos
from explore_context.nodes.counters import Rate
from explore_context.nodes.fault_relay_node import FaultRelayNode


def has_received(rate: Rate, total: int) -> bool:
    return rate.total == total


def relay(graph: Graph, messages: int, **parameters) -> list[PlantState]:
    arrived = graph.collect(PlantState, "state", qos.STATE)
    node = graph.add(FaultRelayNode(**graph.options(**parameters)))
    publisher = graph.publisher(PlantState, "state_in", qos.STATE)
    graph.spin_until(lambda: node.count_subscribers("state") > 0, what="the listener")
    received = node._passed["state"][0]
    for step in range(messages):
        publisher.publish(PlantState(step=step, observation=[1.0, 2.0]))
        graph.spin_until(partial(has_received, received, step + 1), what=f"message {step}")
    sent = node._passed["state"][1]
    graph.spin_until(lambda: len(arrived) == sent.total, what="all that was sent")
    return arrived


def test_passes_everything_without_faults(graph: Graph) -> None:
    assert [state.step for state in relay(graph, 20)] == list(range(20))


def test_harms_what_passes(graph: Graph) -> None:
    arrived = relay(graph, 60, drop=0.3, duplicate=0.2, corrupt=0.3, reorder=0.2, seed=1)
    steps = [state.step for state in arrived]
    assert len(set(steps)) < 60 and len(steps) > len(set(steps)) and steps != sorted(steps)
    bad = [s for s in arrived if len(s.observation) != 2 or not all(map(math.isfinite, s.observation))]
    assert bad


def test_delays(graph: Graph) -> None:
    arrived = relay(graph, 10, delay_probability=1.0, delay=0.05, seed=2)
    assert sorted(state.step for state in arrived) == list(range(10))


def test_relays_actions_too(graph: Graph) -> None:
    arrived = graph.collect(PlantAction, "action", qos.ACTION)
    node = graph.add(FaultRelayNode(**graph.options()))
    publisher = graph.publisher(PlantAction, "action_in", qos.ACTION)
    graph.spin_until(lambda: node.count_subscribers("action") > 0, what="the listener")
    publisher.publish(PlantAction(step=4, command=[1.0], sender="tester"))
    graph.spin_until(lambda: arrived, what="the action")
    assert arrived[0].step == 4 and list(arrived[0].command) == [1.0]
