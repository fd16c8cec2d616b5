"""A calibrator, or a swing-up controller, beside a plant on an in-process graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from explore_context_interfaces.action import Calibrate
from explore_context_interfaces.msg import ContextBelief, PlantAction, PlantInfo, PlantState
from explore_context_interfaces.srv import Reset
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from tests.helpers.ros import Graph

from explore_context.nodes import qos
from explore_context.nodes.calibrator_node import CalibratorNode
from explore_context.nodes.plant_node import PlantNode

CONFIGURE, CLEANUP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE
DEEP = QoSProfile(depth=2000)
SHUTDOWN = Transition.TRANSITION_UNCONFIGURED_SHUTDOWN
PATIENCE = 30.0  # seconds; a loaded machine starts a node slowly
ANSWER_SECONDS, TRIES = 10.0, 4  # of a service

QUICK_PLANNER = """planner: realtime
iterations: 1
candidates: 8
first_iterations: 1
first_candidates: 8
samples: 2
finalists: 1
finalist_samples: 0
"""


@pytest.fixture
def quick_planner(tmp_path: Path) -> str:
    """A planner that thinks for milliseconds, for tests of everything but planning."""
    path = tmp_path / "quick.yaml"
    path.write_text(QUICK_PLANNER)
    return str(path)


class Goal:
    """A goal under way: feedback as it comes, status and result at the end."""

    def __init__(self, graph: Graph, client: ActionClient, **fields: Any) -> None:
        self._graph = graph
        self.feedback: list[Calibrate.Feedback] = []
        goal = Calibrate.Goal(**fields)
        sent = client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        graph.spin_until(sent.done, PATIENCE, "the goal's acceptance")
        self.handle: Any = sent.result()
        assert self.handle.accepted
        self._future = self.handle.get_result_async()

    def cancel(self) -> None:
        future = self.handle.cancel_goal_async()
        self._graph.spin_until(future.done, PATIENCE, "the cancellation's answer")

    def wait(self, timeout: float = 60.0) -> tuple[int, Calibrate.Result]:
        self._graph.spin_until(self._future.done, timeout, "the goal's result")
        response: Any = self._future.result()
        return response.status, response.result


class Watch:
    """Listens to one robot and talks to its nodes, wherever they run; ``namespace`` without slashes."""

    def __init__(self, graph: Graph, namespace: str = "") -> None:
        self.graph = graph
        self._prefix = f"/{namespace}/" if namespace else "/"
        self.states: list[PlantState] = self._collect(PlantState, "state", DEEP)
        self.actions: list[PlantAction] = self._collect(PlantAction, "action", DEEP)
        self.infos: list[PlantInfo] = self._collect(PlantInfo, "plant_info", qos.LATCHED)
        self.beliefs: list[ContextBelief] = self._collect(ContextBelief, "context_belief", qos.LATCHED)
        self.diagnostics: list[DiagnosticArray] = graph.collect(DiagnosticArray, "/diagnostics")
        self._clients: dict[str, ActionClient] = {}

    def _collect(self, kind: type, topic: str, profile: Any) -> list[Any]:
        return self.graph.collect(kind, self._prefix + topic, profile)

    def change(self, name: str, transition: int) -> bool:
        """Whether the node made the transition. DDS may lose the answer of a service that has just come up,
        so a missing one is made up for by a look at the node's state."""
        request = ChangeState.Request(transition=Transition(id=transition))
        before = self._state_of(name)
        try:
            service = f"{self._prefix}{name}/change_state"
            return bool(self.graph.call(ChangeState, service, request, ANSWER_SECONDS).success)
        except AssertionError:
            return self._state_of(name) != before

    def _state_of(self, name: str) -> int:
        service = f"{self._prefix}{name}/get_state"
        for _ in range(TRIES):
            try:
                response = self.graph.call(GetState, service, GetState.Request(), ANSWER_SECONDS)
                return int(response.current_state.id)
            except AssertionError:
                continue
        raise AssertionError(f"{service} does not answer")

    def bring_up(self, name: str) -> None:
        for transition in (CONFIGURE, ACTIVATE):
            assert self.change(name, transition)

    def goal(self, name: str = "calibrator", **fields: Any) -> Goal:
        if name not in self._clients:
            action = f"{self._prefix}{name}/calibrate"
            self._clients[name] = ActionClient(self.graph.node, Calibrate, action)
        client = self._clients[name]
        self.graph.spin_until(client.server_is_ready, PATIENCE, "the action server")
        return Goal(self.graph, client, **fields)

    def set_parameter(self, name: str, parameter: str, value: object) -> str:
        """'' or the reason of the refusal."""
        message = Parameter(parameter, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[message])
        service = f"{self._prefix}{name}/set_parameters"
        result = self.graph.call(SetParameters, service, request, PATIENCE).results[0]
        return "" if result.successful else result.reason

    def reset(self, **fields: Any) -> None:
        request = Reset.Request(**fields)
        assert self.graph.call(Reset, f"{self._prefix}plant/reset", request, PATIENCE).success

    def wait_for_status(self, status: int, timeout: float = PATIENCE) -> ContextBelief:
        self.graph.spin_until(
            lambda: self.beliefs and self.beliefs[-1].status == status,
            timeout,
            f"a belief of status {status}",
        )
        return self.beliefs[-1]

    def values(self, name: str) -> dict[str, str]:
        """Of a diagnostic status that the node publishes from now on."""
        del self.diagnostics[:]

        def found() -> dict[str, str] | None:
            for array in self.diagnostics:
                for status in array.status:
                    if status.name.startswith(f"{self._prefix.lstrip('/')}{name}: "):
                        return {"message": status.message, **{p.key: p.value for p in status.values}}
            return None

        values = self.graph.spin_until(found, PATIENCE, f"diagnostics of {name}")
        assert values is not None
        return values


class Scene(Watch):
    """With a plant on the graph; ``calibrator()`` adds the calibrator, configured and active."""

    def __init__(self, graph: Graph, plant: str = "pendulum", **parameters: Any) -> None:
        super().__init__(graph)
        self.plant = graph.add(PlantNode(plant, **graph.options(**parameters)))
        graph.spin_until(lambda: self.states and self.infos, PATIENCE, "the plant")

    def calibrator(self, *, active: bool = True, **parameters: Any) -> CalibratorNode:
        node = self.graph.add(CalibratorNode(**self.graph.options(**{"threads": 1, **parameters})))
        if active:
            self.bring_up("calibrator")
        return node


def transitions_of(states: Sequence[PlantState], rollouts: set[int]) -> tuple[np.ndarray, ...]:
    """x, u, x+ as the states on the topic tell."""
    pairs = {
        (a.rollout, a.step): (a.observation, b.applied_action, b.observation)
        for a in states
        for b in states
        if a.rollout in rollouts and (b.rollout, b.step) == (a.rollout, a.step + 1)
    }
    x, u, following = zip(*pairs.values(), strict=True)
    return np.array(x), np.array(u), np.array(following)
