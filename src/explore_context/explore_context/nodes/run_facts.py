"""What a recording should say of its run: model, plant, seeds and versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from explore_context_interfaces.msg import ContextBelief, PlantInfo
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.serialization import deserialize_message

_PARAMETERS = {
    "plant": ("seed", "mode", "plant", "initial_state_mode"),
    "calibrator": ("seed", "model", "scheme", "planner", "transitions", "rollouts", "prior_bag"),
    "swing_up_controller": ("seed", "model", "planner"),
}
_DISTRIBUTIONS = ("explore_context", "numpy", "onnxruntime", "mcap")
_VALUE_FIELDS = {
    1: "bool_value",
    2: "integer_value",
    3: "double_value",
    4: "string_value",
}


def version_facts() -> dict[str, str]:
    facts = {"python": platform.python_version(), "ros_distro": os.environ.get("ROS_DISTRO", "")}
    for name in _DISTRIBUTIONS:
        try:
            facts[f"version.{name}"] = version(name)
        except PackageNotFoundError:
            facts[f"version.{name}"] = ""
    return facts


class RunFacts:
    """Collects facts as they become known; ``on_change`` gets all of them whenever there is a new one."""

    def __init__(self, node: Node, on_change: Callable[[dict[str, str]], None]) -> None:
        self._node, self._on_change = node, on_change
        self.facts = {"namespace": node.get_namespace(), **version_facts()}
        # Those of this robot: a recorder without a namespace hears others, too.
        self._plant_info, self._context_belief = map(
            node.resolve_topic_name, ("plant_info", "context_belief")
        )
        base = node.get_namespace().rstrip("/")
        self._clients: dict[str, Any] = {
            name: node.create_client(GetParameters, f"{base}/{name}/get_parameters") for name in _PARAMETERS
        }
        self._asked: set[str] = set()

    def on_message(self, topic: str, data: bytes) -> None:
        """A serialized message that may hold a fact; only the two rare topics are decoded."""
        if topic == self._plant_info:
            info = deserialize_message(data, PlantInfo)
            self._add({"plant": info.plant, "mode": info.mode, "session": info.session_id})
        elif topic == self._context_belief and "model_hash" not in self.facts:
            self._add({"model_hash": deserialize_message(data, ContextBelief).model_hash})

    def ask(self) -> None:
        """Ask nodes that have appeared since for the parameters of this run."""
        for name, client in self._clients.items():
            if name not in self._asked and client.service_is_ready():
                self._asked.add(name)
                future = client.call_async(GetParameters.Request(names=list(_PARAMETERS[name])))
                future.add_done_callback(lambda done, name=name: self._on_parameters(name, done.result()))

    def _on_parameters(self, node: str, answer: GetParameters.Response) -> None:
        values = zip(_PARAMETERS[node], answer.values, strict=False)
        self._add({f"{node}.{name}": text for name, value in values if (text := _text(value)) is not None})

    def _add(self, facts: dict[str, str]) -> None:
        updated = {**self.facts, **facts}
        if updated != self.facts:
            self.facts = updated
            self._on_change(updated)


def _text(value: ParameterValue) -> str | None:
    field = _VALUE_FIELDS.get(value.type)
    return None if field is None else str(getattr(value, field))
