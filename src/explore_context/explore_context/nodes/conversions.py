"""All code that turns messages into arrays and back. Sizes and numbers are checked here, at the door.

Functions ``*_from_message`` raise :class:`~explore_context.nodes.samples.RejectedMessage` with a reason that
the node counts; functions ``*_message`` refuse to build a message with a non-finite number in it
(``ValueError``), so that none is ever published. rclpy checks field types only with
``ROS_PYTHON_CHECK_FIELDS=1``, hence plain lists of Python floats everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from explore_context_interfaces.msg import ContextBelief, PlantAction, PlantInfo, PlantState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from explore_context.nodes.samples import (
    ActionCommand,
    Array,
    BeliefSample,
    Kind,
    PlantDescription,
    RejectedMessage,
    Rejection,
    StateSample,
    checked_vector,
)


def state_message(sample: StateSample, stamp: Time) -> PlantState:
    return PlantState(
        header=Header(stamp=stamp),
        session_id=sample.session_id,
        rollout=sample.rollout,
        step=sample.step,
        observation=float_list("observation", sample.observation),
        applied_action=float_list("applied action", sample.applied_action),
        reward=_finite("reward", sample.reward),
    )


def state_from_message(message: PlantState, observation_dim: int, action_dim: int) -> StateSample:
    """Check sizes and finiteness; step 0 carries no applied action, every later step one of ``action_dim``
    entries."""
    observation = checked_vector("observation", float_array(message.observation), observation_dim)
    expected = action_dim if message.step > 0 else 0
    applied = checked_vector("applied action", float_array(message.applied_action), expected)
    if not math.isfinite(message.reward):
        raise RejectedMessage(Rejection.NON_FINITE, "reward is not finite")
    return StateSample(
        message.session_id, message.rollout, message.step, observation, applied, float(message.reward)
    )


def action_message(command: ActionCommand, stamp: Time) -> PlantAction:
    return PlantAction(
        header=Header(stamp=stamp),
        session_id=command.session_id,
        kind=int(command.kind),
        rollout=command.rollout,
        step=command.step,
        command=float_list("command", command.command),
        sender=command.sender,
    )


def action_from_message(message: PlantAction, action_dim: int) -> ActionCommand:
    """Check kind, size and finiteness; a claim or release has no command to check."""
    try:
        kind = Kind(message.kind)
    except ValueError:
        raise RejectedMessage(Rejection.UNKNOWN_KIND, f"action of unknown kind {message.kind}") from None
    if kind is not Kind.COMMAND:
        return ActionCommand.without_action(kind, message.session_id, message.sender)
    command = checked_vector("command", float_array(message.command), action_dim)
    return ActionCommand(message.session_id, message.rollout, message.step, command, message.sender)


def info_message(info: PlantDescription, stamp: Time) -> PlantInfo:
    return PlantInfo(
        header=Header(stamp=stamp),
        session_id=info.session_id,
        plant=info.plant,
        mode=info.mode,
        period=_finite("period", info.period),
        observation_names=list(info.observation_names),
        action_low=float_list("action_low", info.action_low),
        action_high=float_list("action_high", info.action_high),
        commander=info.commander,
        hidden_context=float_list("hidden_context", info.hidden_context),
    )


def info_from_message(message: PlantInfo) -> PlantDescription:
    low, high = float_array(message.action_low), float_array(message.action_high)
    if not low.size or low.size != high.size or not message.observation_names:
        raise RejectedMessage(
            Rejection.WRONG_SIZE, "plant_info: observation_names, action_low, action_high do not fit"
        )
    if not (np.isfinite(low).all() and np.isfinite(high).all() and math.isfinite(message.period)):
        raise RejectedMessage(Rejection.NON_FINITE, "plant_info holds a non-finite number")
    return PlantDescription(
        session_id=message.session_id,
        plant=message.plant,
        mode=message.mode,
        period=float(message.period),
        observation_names=tuple(message.observation_names),
        action_low=tuple(low.tolist()),
        action_high=tuple(high.tolist()),
        commander=message.commander,
        hidden_context=tuple(float_array(message.hidden_context).tolist()),
    )


def belief_message(belief: BeliefSample, stamp: Time) -> ContextBelief:
    return ContextBelief(
        header=Header(stamp=stamp),
        session_id=belief.session_id,
        model_hash=belief.model_hash,
        mean=float_list("mean", belief.mean),
        std=float_list("std", belief.std),
        entropy=_finite("entropy", belief.entropy),
        information_gained=_finite("information_gained", belief.information_gained),
        expected_gain=_finite("expected_gain", belief.expected_gain),
        number_of_transitions=belief.number_of_transitions,
        embedding=float_list("embedding", belief.embedding),
        status=belief.status,
    )


def belief_from_message(message: ContextBelief, latent_dim: int, embedding_dim: int) -> BeliefSample:
    """Check sizes, finiteness and positive standard deviations."""
    mean = checked_vector("mean", float_array(message.mean), latent_dim)
    std = checked_vector("std", float_array(message.std), latent_dim)
    embedding = checked_vector("embedding", float_array(message.embedding), embedding_dim)
    scalars = (message.entropy, message.information_gained, message.expected_gain)
    checked_vector("entropy, gains", float_array(scalars), len(scalars))
    if (std <= 0).any():
        raise RejectedMessage(Rejection.NON_FINITE, "std must be positive")
    return BeliefSample(
        session_id=message.session_id,
        model_hash=message.model_hash,
        mean=mean,
        std=std,
        entropy=float(message.entropy),
        information_gained=float(message.information_gained),
        expected_gain=float(message.expected_gain),
        number_of_transitions=message.number_of_transitions,
        embedding=embedding.astype(np.float32),
        status=message.status,
    )


def joint_state_message(
    names: Sequence[str], position: Array, velocity: Array, effort: Array, stamp: Time
) -> JointState:
    """``velocity`` and ``effort`` may be empty, as the message allows."""
    return JointState(
        header=Header(stamp=stamp),
        name=list(names),
        position=float_list("position", position),
        velocity=float_list("velocity", velocity),
        effort=float_list("effort", effort),
    )


def command_message(command: Array) -> Float64MultiArray:
    """What ros2_control's forward command controllers take."""
    return Float64MultiArray(data=float_list("command", command))


def float_array(values: Iterable[float]) -> Array:
    """A float64 copy of a message's sequence, (n,); the message's memory is not kept."""
    return np.array(values, dtype=np.float64)


def float_list(what: str, values: Iterable[float]) -> list[float]:
    """Python floats for a message's field; raises ValueError on a non-finite one."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{what} holds a non-finite number and is not published: {array}")
    return list(array.tolist())


def _finite(what: str, value: float) -> float:
    return float_list(what, [value])[0]
