"""What calibrator and swing-up controller share: a lifecycle node with model, plant and planning thread.

configure   load the model, wait for the plant, check that they fit; a misfit stays unconfigured and says why
activate    the plant must be there; the subclass begins its work
deactivate  zero action, command given up; whatever was learned stays

Structural parameters are refused while configured; the rest holds from the next plan or start on.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from explore_context.model import ContextModel, ModelError
from explore_context.nodes.commander_parameters import (
    CommanderParameters,
    model_folder,
    session_settings,
    structural_change,
)
from explore_context.nodes.diagnostics import Diagnostics, Level, Report, steady_clock
from explore_context.nodes.flight import PilotSettings
from explore_context.nodes.namesakes import namesakes
from explore_context.nodes.parameters import NodeParameters
from explore_context.nodes.planning_thread import InterruptiblePlanner, PlanningThread
from explore_context.nodes.plant_link import PlantLink, mismatch
from explore_context.nodes.runtime import stop_requested
from explore_context.nodes.samples import Array, PlantDescription
from explore_context.nodes.transition_filter import Judgement
from explore_context.planning import ExecutionSettings, graph_runner, load_planner_settings, make_planner

P = TypeVar("P", bound=CommanderParameters)
T = TypeVar("T")

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_CHECK_PERIOD = 0.1


class CommanderNode(LifecycleNode, Generic[P]):
    """Is the :class:`~explore_context.nodes.flight.Port` of its pilots. ``GRAPH``: what it plans with."""

    GRAPH: str

    def __init__(self, name: str, parameters: type[P], what: str, **options: Any) -> None:
        super().__init__(name, **options)
        self._configured: P | None = None
        self.model: ContextModel | None = None
        self._declared = NodeParameters(
            self, parameters, validate=self._validate, on_change=self._parameters_changed
        )
        self.active = False
        self.problem = ""
        self._refuse_impossible_transitions()
        self._reported_rejections = 0
        guard = self.create_guard_condition(self._deliver)
        self._thread = PlanningThread(guard.trigger)
        self.link = PlantLink(self, self._state, self._info_changed)
        self.create_timer(_CHECK_PERIOD, self._check, clock=steady_clock())
        self._diagnostics = Diagnostics(self, what, self._report)

    @property
    def settings(self) -> P:
        return self._declared.value

    # What a subclass does.

    @abstractmethod
    def _load(self, model: ContextModel) -> None:
        """Build what needs the model; raises ValueError, ModelError or OSError with the reason."""

    @abstractmethod
    def _begin(self) -> None:
        """The node is active."""

    @abstractmethod
    def _halt(self, reason: str) -> None:
        """Stop commanding, now."""

    @abstractmethod
    def _state(self, judgement: Judgement) -> None:
        """A state of the present session."""

    @abstractmethod
    def _session_changed(self) -> None:
        """Another system stands there; everything about the old one is history."""

    @abstractmethod
    def _commander_changed(self) -> None:
        """Somebody took or gave up the command."""

    @abstractmethod
    def _check(self) -> None:
        """Called ten times a second: timeouts."""

    @abstractmethod
    def _values(self) -> dict[str, object]:
        """The subclass's part of the diagnostics."""

    def _parameters_changed(self, new: P, old: P) -> None:
        """Apply what may change while the node works."""

    # The pilot's port.

    def send(self, session_id: str, rollout: int, step: int, command: Array) -> None:
        self.link.send(session_id, rollout, step, command)

    def claim(self, session_id: str) -> None:
        self.link.claim(session_id)

    def release(self, session_id: str) -> None:
        self.link.release(session_id)

    def reset(self, done: Callable[[str], None]) -> None:
        self.link.reset(done)

    def submit(
        self, job: Callable[[], T], deliver: Callable[[T], None], fail: Callable[[Exception], None]
    ) -> None:
        self._thread.submit(job, deliver, fail)

    def pilot_settings(self) -> PilotSettings:
        """For the plant that is there now."""
        info, settings = self.link.info, self.settings
        assert info is not None
        return PilotSettings(
            session_id=info.session_id,
            mode=info.mode,
            period=info.period,
            action_dim=info.action_dim,
            reset=settings.reset_plant,
            margin=settings.deadline_margin,
        )

    # Lifecycle.

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        settings = self.settings
        try:
            self._check_name()
            load_planner_settings(settings.planner)
            info = self.link.wait_for_info(settings.plant_timeout)
            if stop_requested():
                raise InterruptedError("the process was asked to stop")
            name = settings.model or (info.plant if info else "")
            if not name:
                raise ModelError("parameter 'model' is empty and no plant on plant_info gives it a name")
            model = ContextModel.load(model_folder(name), session_settings(settings))
            if info is not None and (misfit := mismatch(model, info)):
                raise ModelError(misfit)
            self.link.connect_reset(settings.reset_service)
            # Open and warm up the planner's graph now: the first plan must not wait for a file.
            graph_runner(model, self.GRAPH, ExecutionSettings(workers=settings.threads))
            self._load(model)
        except Exception as error:  # whatever it is, rclpy would swallow it
            return self._refuse(f"not configured: {error}")
        if info is not None and settings.reset_plant:
            self.link.wait_for_reset()
        self.model, self._configured, self.problem = model, settings, ""
        self.get_logger().info(f"model {model.folder} ({model.model_hash}), {model.provider}")
        if info is None:
            self.get_logger().warning("no plant on plant_info yet; it is checked when it comes")
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        problem = self._plant_problem()
        if problem:
            return self._refuse(f"not activated: {problem}")
        self.active, self.problem = True, ""
        self._begin()
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.active = False
        self._halt("deactivated")
        return SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.model = self._configured = None
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.active = False
        self._halt("shut down")
        return SUCCESS

    def stop(self) -> None:
        """The process ends: leave the plant without a command and let waiting clients know."""
        self.active = False
        self._halt("the node was stopped")
        self.link.flush()
        if self.executor is not None:
            for _ in range(10):
                self.executor.spin_once(timeout_sec=0.0)

    def destroy_node(self) -> None:
        self._thread.close()
        super().destroy_node()

    # Plumbing.

    def _refuse_impossible_transitions(self) -> None:
        """rclpy answers a transition that the present state does not have with an exception, which would end
        the process."""
        service = self._service_change_state
        change = service.callback

        def guarded(request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
            possible = self._state_machine.available_transitions
            names = {number: label for number, label, *_ in possible}
            if request.transition.id in names or request.transition.label in names.values():
                return change(request, response)
            self.get_logger().warning(
                f"no transition {request.transition.label or request.transition.id} from "
                f"{self._state_machine.current_state[1]}; possible: {', '.join(names.values())}"
            )
            response.success = False
            return response

        service.callback = guarded

    def _planner(self, model: ContextModel, name: str) -> InterruptiblePlanner:
        """Raises ValueError, also for a file that cannot be read."""
        try:
            settings = load_planner_settings(name)
        except OSError as error:
            raise ValueError(f"planner {name!r}: {error}") from error
        manifest = model.manifest
        return InterruptiblePlanner(make_planner(settings, manifest.action_low, manifest.action_high))

    def _deliver(self) -> None:
        self._thread.deliver()

    def _check_name(self) -> None:
        name = self.get_fully_qualified_name()
        if namesakes(self, name) > 1:
            raise RuntimeError(
                f"another node named {name} is on the graph; end it, or start this one in a namespace of "
                "its own"
            )

    def _refuse(self, problem: str) -> TransitionCallbackReturn:
        self.problem = problem
        self.get_logger().error(problem)
        return FAILURE

    def _plant_problem(self) -> str:
        """Why this node cannot command the plant, '' if it can."""
        if self.model is None:
            return "the node is not configured"
        if self.link.info is None:
            return "no plant on plant_info; start the plant"
        return mismatch(self.model, self.link.info)

    def _info_changed(self, new: PlantDescription, old: PlantDescription | None) -> None:
        if old is None or new.session_id != old.session_id:
            self._session_changed()
        elif new.commander != old.commander:
            self._commander_changed()

    def _validate(self, settings: P) -> None:
        name = "" if self._configured is None else structural_change(settings, self._configured)
        if name:
            raise ValueError(
                f"parameter {name!r} cannot change while the node is configured; "
                "deactivate and clean it up first"
            )
        # An unconfigured node is told when it is configured; a working one would stumble at its next start.
        if self.model is not None and settings.planner != self.settings.planner:
            self._planner(self.model, settings.planner)

    def _report(self) -> Report:
        new = self.link.rejections.total - self._reported_rejections
        self._reported_rejections = self.link.rejections.total
        model = self.model
        problem = self.problem or (self._plant_problem() if self.active else "")
        message = problem or (f"{new} messages rejected" if new else "active" if self.active else "inactive")
        return Report(
            message,
            level=Level.ERROR if problem else Level.WARN if new else Level.OK,
            values={
                "model": str(model.folder) if model else "",
                "model_hash": model.model_hash if model else "",
                "provider": model.provider if model else "",
                **self.link.values(time.monotonic()),
                **self._values(),
            },
        )
