"""A relay that harms what passes: ``state_in`` -> ``state`` and ``action_in`` -> ``action``. For fault tests.

Remap the plant's ``state`` to ``state_in`` and its ``action`` to the relay's ``action``, e.g.
``ros2 run explore_context pendulum_plant --ros-args -r state:=state_in -r action:=plant_action`` with
``ros2 run explore_context fault_relay --ros-args -r action_in:=action -r action:=plant_action -p drop:=0.3``.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from explore_context_interfaces.msg import PlantAction, PlantState
from rclpy.node import Node
from rclpy.publisher import Publisher

from explore_context.nodes import qos
from explore_context.nodes.counters import Rate
from explore_context.nodes.diagnostics import Diagnostics, Report, steady_clock
from explore_context.nodes.faults import FaultInjector, FaultSettings, corrupt_vector
from explore_context.nodes.parameters import NodeParameters, parameter
from explore_context.nodes.runtime import run_node


@dataclass(frozen=True)
class FaultParameters:
    """Probabilities may be changed while the relay runs."""

    drop: float = parameter(0.0, "Probability that a message is lost.", low=0.0, high=1.0)
    duplicate: float = parameter(0.0, "Probability that a message arrives twice.", low=0.0, high=1.0)
    reorder: float = parameter(
        0.0, "Probability that a message arrives after its successor.", low=0.0, high=1.0
    )
    corrupt: float = parameter(0.0, "Probability of NaN, infinity or a wrong size.", low=0.0, high=1.0)
    delay_probability: float = parameter(0.0, "Probability that a message is delayed.", low=0.0, high=1.0)
    delay: float = parameter(
        0.0, "Longest delay of such a message in seconds, uniform from 0.", low=0.0, high=10.0
    )
    seed: int = parameter(0, "Seed of all faults.", low=0, read_only=True)

    def settings(self) -> FaultSettings:
        return FaultSettings(**{field.name: getattr(self, field.name) for field in fields(FaultSettings)})


class FaultRelayNode(Node):
    """Two relays with random streams of their own."""

    def __init__(self, **options: Any) -> None:
        super().__init__("fault_relay", **options)
        self._settings = NodeParameters(self, FaultParameters, on_change=self._parameters_changed)
        self._injectors: list[FaultInjector[Any]] = []
        self._passed = {"state": (Rate(), Rate()), "action": (Rate(), Rate())}
        self._relay(PlantState, "state", qos.STATE, "observation")
        self._relay(PlantAction, "action", qos.ACTION, "command")
        self._diagnostics = Diagnostics(self, "faults", self._report)

    def _relay(self, kind: type, topic: str, profile: Any, vector: str) -> None:
        parameters = self._settings.value
        rng = np.random.default_rng((parameters.seed, len(self._injectors)))
        injector: FaultInjector[Any] = FaultInjector(parameters.settings(), rng, _corrupting(vector))
        self._injectors.append(injector)
        publisher = self.create_publisher(kind, topic, profile)
        received, sent = self._passed[topic]

        def pass_on(message: Any) -> None:
            received.add()
            for delay, arriving in injector(message):
                sent.add()
                self._publish_after(publisher, arriving, delay)

        self.create_subscription(kind, f"{topic}_in", pass_on, profile)

    def _publish_after(self, publisher: Publisher, message: Any, delay: float) -> None:
        if delay <= 0.0:
            publisher.publish(message)
            return

        def publish() -> None:
            self.destroy_timer(timer)
            publisher.publish(message)

        timer = self.create_timer(delay, publish, clock=steady_clock())

    def _parameters_changed(self, new: FaultParameters, old: FaultParameters) -> None:
        for injector in self._injectors:
            injector.settings = new.settings()

    def _report(self) -> Report:
        values: dict[str, int] = {}
        for topic, (received, sent) in self._passed.items():
            values |= {f"{topic}.received": received.total, f"{topic}.sent": sent.total}
        return Report("relaying", values)


def _corrupting(vector: str) -> Callable[[Any, np.random.Generator], Any]:
    def corrupt(message: Any, rng: np.random.Generator) -> Any:
        spoiled = copy.deepcopy(message)
        setattr(spoiled, vector, corrupt_vector(list(getattr(message, vector)), rng))
        return spoiled

    return corrupt


def main(args: Sequence[str] | None = None) -> int:
    return run_node(FaultRelayNode, args)


if __name__ == "__main__":
    sys.exit(main())
