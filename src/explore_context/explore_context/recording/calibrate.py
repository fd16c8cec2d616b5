"""Calibrating from a recording: the belief that its transitions give, and what is still worth trying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from explore_context.model import Belief, ContextModel
from explore_context.nodes.samples import Array
from explore_context.nodes.transition_filter import Transition
from explore_context.planning import (
    Calibration,
    Plan,
    default_calibration,
    load_planner_settings,
    make_planner,
)
from explore_context.recording.transitions import RecordedSession, choose_session, read_sessions
from explore_context.recording.writer import RecordingError


@dataclass(frozen=True)
class BagCalibration:
    """Belief of one recorded session; ``manoeuvre`` is the best next one from the start of a rollout."""

    session: RecordedSession
    belief: Belief
    prior_entropy: float
    transitions: int
    manoeuvre: Plan | None

    @property
    def information_gained(self) -> float:
        return self.prior_entropy - self.belief.entropy


def belief_of(model: ContextModel, transitions: Sequence[Transition]) -> Belief:
    """q(beta | C) of recorded transitions.

    They are embedded one by one, as the live calibrator does, so that both give the same bits.
    """
    pooled = np.zeros(model.embedding_dim, np.float32)
    for t in transitions:
        pooled = np.maximum(pooled, model.embed(t.state[None], t.action[None], t.following[None])[0])
    return model.belief_from_embedding(pooled, len(transitions)) if transitions else model.prior


def belief_from_bag(path: Path | str, model: ContextModel, session_id: str | None = None) -> Belief:
    """The belief that a recording gives, to start a live calibration of the same system from."""
    sessions = read_sessions(path, model.state_dim, model.action_dim)
    session = choose_session(path, sessions, session_id)
    _check_plant(path, session, model)
    return belief_of(model, session.transitions)


def calibrate_from_bag(
    path: Path | str,
    model: ContextModel,
    session_id: str | None = None,
    first: int | None = None,
    planner: str | None = "realtime",
    seed: int = 0,
) -> BagCalibration:
    """Belief of one session's transitions (only the ``first`` ones, if given) and the best next manoeuvre.

    ``planner`` None leaves the manoeuvre out.
    """
    session = choose_session(path, read_sessions(path, model.state_dim, model.action_dim), session_id)
    _check_plant(path, session, model)
    transitions = session.transitions[:first]
    belief = belief_of(model, transitions)
    plan = None
    if planner is not None and session.first_state is not None:
        plan = best_manoeuvre(model, belief, session.first_state, planner, seed)
    return BagCalibration(session, belief, model.prior.entropy, len(transitions), plan)


def best_manoeuvre(model: ContextModel, belief: Belief, state: Array, planner: str, seed: int) -> Plan:
    """The most informative action sequence from ``state`` (X,) that a calibration would plan next."""
    manifest = model.manifest
    settings = default_calibration(manifest.plant)
    # MPC plans its horizon at once; open loop would stop at the number of transitions of one rollout.
    transitions = max(settings.transitions, settings.horizon)
    settings = replace(settings, scheme="mpc", transitions=transitions, reacts=False)  # nobody plans again
    search = make_planner(load_planner_settings(planner), manifest.action_low, manifest.action_high)
    return Calibration(model, settings, search, seed, start=belief).next_action(state)


def summary(result: BagCalibration, model: ContextModel) -> dict[str, Any]:
    """Everything found, as plain values for JSON."""
    session, belief, plan = result.session, result.belief, result.manoeuvre
    published = session.published
    return {
        "session": session.session_id,
        "topic": session.topic,
        "plant": session.plant or model.manifest.plant,
        "model_hash": model.model_hash,
        "transitions": result.transitions,
        "rollouts": session.rollouts,
        "rejected": dict(session.rejected),
        "prior_entropy": result.prior_entropy,
        "entropy": belief.entropy,
        "information_gained": result.information_gained,
        "mean": belief.mean.tolist(),
        "std": belief.std.tolist(),
        "next_manoeuvre": plan and {"expected_gain": plan.score, "actions": plan.actions.tolist()},
        "published": published
        and {
            "model_hash": str(published.model_hash),
            "transitions": int(published.number_of_transitions),
            "entropy": float(published.entropy),
        },
    }


def _check_plant(path: Path | str, session: RecordedSession, model: ContextModel) -> None:
    if session.plant and session.plant != model.manifest.plant:
        raise RecordingError(
            f"{path}: was recorded from {session.plant!r}, but {model.folder} is a model of "
            f"{model.manifest.plant!r}; choose another --model"
        )
