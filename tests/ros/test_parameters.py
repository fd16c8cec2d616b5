"""Parameters from a frozen dataclass."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from tests.helpers.ros import Graph

from explore_context.nodes.parameters import NodeParameters, ParameterError, parameter


@dataclass(frozen=True)
class Settings:
    mode: str = parameter("slow", "How.", choices=("slow", "fast"), read_only=True)
    rate: float = parameter(1.0, "Hertz.", low=0.1, high=10.0)
    gains: tuple[float, ...] = parameter((), "One each.", low=0.0)
    names: tuple[str, ...] = parameter(("a",), "Names.")
    number: int = parameter(3, "How many.", low=0)
    verbose: bool = parameter(False, "More words.")

    def __post_init__(self) -> None:
        if self.mode == "fast" and self.rate < 1.0:
            raise ValueError("fast needs a rate of at least 1")


def make(graph: Graph, **given):
    node = graph.add(Node("parametrized", **graph.options(**given)))
    return node, NodeParameters(node, Settings)


def test_defaults_are_declared_with_their_types(graph: Graph) -> None:
    node, parameters = make(graph)
    assert parameters.value == Settings()
    assert node.get_parameter("gains").type_ == Parameter.Type.DOUBLE_ARRAY
    assert node.get_parameter("names").value == ["a"]
    assert node.describe_parameter("rate").floating_point_range[0].to_value == 10.0


def test_overrides_are_taken_as_meant(graph: Graph) -> None:
    _, parameters = make(graph, rate=2, gains=[1, 2], names=[], verbose=True)
    assert parameters.value == Settings(rate=2.0, gains=(1.0, 2.0), names=(), verbose=True)
    assert isinstance(parameters.value.rate, float)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"rate": 11.0}, "'rate' is 11.0, outside"),
        ({"rate": "quick"}, "'rate' must be of type float"),
        ({"gains": [1.0, -1.0]}, "'gains' is -1.0, outside"),
        ({"gains": 1.0}, "'gains' must be a list"),
        ({"mode": "medium"}, "choose one of slow, fast"),
        ({"mode": "fast", "rate": 0.5}, "at least 1"),
        ({"number": True}, "'number' must be of type int"),
        ({"rate": float("nan")}, "must be finite"),
    ],
)
def test_bad_values_name_node_and_parameter(graph: Graph, given, text: str) -> None:
    with pytest.raises(ParameterError, match=text) as error:
        make(graph, **given)
    assert "/parametrized" in str(error.value)


def test_changes_are_checked_and_reported(graph: Graph) -> None:
    node, parameters = make(graph)
    seen = []
    parameters._on_change = lambda new, old: seen.append((old.rate, new.rate))
    results = node.set_parameters([Parameter("rate", value=5.0), Parameter("rate", value=50.0)])
    assert [result.successful for result in results] == [True, False]
    assert not node.set_parameters([Parameter("gains", value=[-1.0])])[0].successful
    assert not node.set_parameters([Parameter("mode", value="fast")])[0].successful
    assert node.set_parameters([Parameter("gains", Parameter.Type.DOUBLE_ARRAY, [])])[0].successful
    assert parameters.value == Settings(rate=5.0)
    assert seen == [(1.0, 5.0)]
