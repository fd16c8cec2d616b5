"""Swings a calibrated pendulum up and keeps it there.

Waits for a ``context_belief`` that is calibrated, about the session that is running and made with the node's
own model; old or foreign ones are refused. Then it resets the pendulum (parameter ``reset_plant``), plans
anew at every step, and publishes the return of the episode on ``swing_up_return`` (latched). Gives up the
command, after a zero action, when it is deactivated, stopped, or the pendulum becomes another one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from explore_context_interfaces.msg import ContextBelief
from std_msgs.msg import Float64

from explore_context.model import Belief, ContextModel
from explore_context.nodes import conversions, qos
from explore_context.nodes.commander_node import CommanderNode
from explore_context.nodes.commander_parameters import SwingUpParameters
from explore_context.nodes.runtime import run_node
from explore_context.nodes.samples import BeliefSample, RejectedMessage
from explore_context.nodes.swing_up_run import Episode, SwingUpRun
from explore_context.nodes.transition_filter import Judgement
from explore_context.planning import ExecutionSettings, SwingUp


class SwingUpNode(CommanderNode[SwingUpParameters]):
    """Idle until the right belief is there; everything that changes its mind calls ``_reconsider``."""

    GRAPH = "imagine"

    def __init__(self, **options: Any) -> None:
        """``options`` are those of every rclpy node."""
        self._run: SwingUpRun | None = None
        self._message: ContextBelief | None = None
        self._waiting_for = ""
        self._episode: Episode | None = None
        super().__init__("swing_up_controller", SwingUpParameters, "swing up", **options)
        self._returns = self.create_publisher(Float64, "swing_up_return", qos.LATCHED)
        self.create_subscription(ContextBelief, "context_belief", self._on_belief, qos.LATCHED)

    def _load(self, model: ContextModel) -> None:
        names = ("cos_angle", "sin_angle", "angular_velocity")
        if model.manifest.state_names != names:
            raise ValueError(
                f"model {model.folder} observes {model.manifest.state_names}, a swing-up needs {names}"
            )

    def _begin(self) -> None:
        self._reconsider()

    def _halt(self, reason: str) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.end()
            self.get_logger().info(f"swing-up ended after {run.decisions} decisions: {reason}")

    def _state(self, judgement: Judgement) -> None:
        if self._run is not None:
            self._run.on_state(judgement)

    def _check(self) -> None:
        if self._run is not None:
            self._run.check(self.settings.state_timeout)

    def _session_changed(self) -> None:
        self._halt("the session changed: the plant restarted or became another system")
        if self.active:  # what kept it from becoming active is not about the plant's session
            self.problem = ""
        self._reconsider()

    def _commander_changed(self) -> None:
        if other := self.link.foreign_commander():
            self._halt(f"plant is commanded by {other}")
        self._reconsider()

    def _parameters_changed(self, new: SwingUpParameters, old: SwingUpParameters) -> None:
        if self._run is not None:
            self._run.change(margin=new.deadline_margin)

    def _on_belief(self, message: ContextBelief) -> None:
        self._message = message
        self._reconsider()

    def _reconsider(self) -> None:
        """Start, or take over a better belief, if everything is there; else note what is missing."""
        if not self.active or self.model is None:
            return
        belief, refusal = self._usable_belief(self.model)
        if self._run is not None and belief is not None:
            self._run.belief = belief
        elif self._run is None and belief is None:
            self._wait(refusal)
        elif self._run is None and (other := self.link.foreign_commander()):
            self._wait(f"the plant, which is commanded by {other}")
        elif self._run is None and belief is not None:
            self._start(self.model, belief)

    def _wait(self, what: str) -> None:
        if what != self._waiting_for:
            self.get_logger().info(f"waiting for {what}")
        self._waiting_for = what

    def _usable_belief(self, model: ContextModel) -> tuple[Belief | None, str]:
        """The belief to control with, or what is waited for instead."""
        message, info = self._message, self.link.info
        if message is None or info is None:
            return None, "a context_belief" if message is None else "a plant"
        try:
            sample = conversions.belief_from_message(message, model.belief_dim, model.embedding_dim)
        except RejectedMessage as error:
            self.link.rejections.add(f"belief_{error.reason.value}")
            return None, f"a well-formed belief ({error})"
        refusal = self._refusal(sample, model, info.session_id)
        if refusal:
            return None, refusal
        return model.belief_from_embedding(sample.embedding, sample.number_of_transitions), ""

    def _refusal(self, sample: BeliefSample, model: ContextModel, session_id: str) -> str:
        if sample.model_hash != model.model_hash:
            return f"a belief of model {model.model_hash} (there is one of {sample.model_hash})"
        if sample.session_id != session_id or sample.status == ContextBelief.STALE:
            return f"a belief about session {session_id} (there is one about {sample.session_id})"
        if sample.status != ContextBelief.CALIBRATED:
            return "the calibration to be completed"
        return ""

    def _start(self, model: ContextModel, belief: Belief) -> None:
        settings = self.settings
        try:
            planner = self._planner(model, settings.planner)
        except ValueError as error:  # the file was good when the parameter was set
            self._failed(str(error))
            return

        def make() -> SwingUp:
            execution = ExecutionSettings(workers=settings.threads)
            return SwingUp(model, planner, settings.seed, settings.samples, execution=execution)

        run = SwingUpRun(
            model,
            make,
            planner,
            belief,
            self,
            self.pilot_settings(),
            settings.episode,
            settings.keep_balancing,
            self._completed,
            self._failed,
        )
        self._waiting_for, self._run, self.problem = "", run, ""
        self.get_logger().info(f"swinging up with a belief of {belief.transitions} transitions")
        run.start()

    def _completed(self, episode: Episode) -> None:
        self._episode = episode
        self._returns.publish(Float64(data=episode.total))
        verdict = "upright" if episode.upright else "not upright"
        self.get_logger().info(f"return {episode.total:.1f} after {episode.decisions} decisions, {verdict}")

    def _failed(self, reason: str) -> None:
        """The ended run stays, so that nothing starts again before a new session or an activation."""
        self.problem = f"swing-up given up: {reason}"
        self.get_logger().error(self.problem)

    def _values(self) -> dict[str, object]:
        run, episode = self._run, self._episode
        return {
            "swinging_up": run is not None,
            "waiting_for": self._waiting_for,
            "decisions": run.decisions if run else 0,
            "return": episode.total if episode else "",
            "upright": episode.upright if episode else "",
            "planning_time": run.planning_time if run else 0.0,
            "planning_time_max": run.planning_time_max if run else 0.0,
            "missed_deadlines": run.missed_deadlines if run else 0,
        }


def main(args: Sequence[str] | None = None) -> int:
    return run_node(SwingUpNode, args)


if __name__ == "__main__":
    sys.exit(main())
