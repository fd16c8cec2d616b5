"""What travels over the graph, as plain frozen values: states, actions and the plant's description.

``conversions`` turns messages into these and back; everything behind the door works with these and never sees
a message.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Rejection(Enum):
    """Why a message was dropped. The value is the word that diagnostics and log show."""

    WRONG_SIZE = "wrong_size"
    NON_FINITE = "non_finite"
    FOREIGN_SESSION = "foreign_session"
    FOREIGN_ROLLOUT = "foreign_rollout"
    STALE_STEP = "stale_step"
    FUTURE_STEP = "future_step"
    MISSING_SENDER = "missing_sender"
    SECOND_COMMANDER = "second_commander"
    UNKNOWN_KIND = "unknown_kind"


class RejectedMessage(ValueError):
    """A message that must change nothing; ``reason`` says why in one word, the text in a sentence."""

    def __init__(self, reason: Rejection, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True)
class StateSample:
    """One observation x_k of a rollout, (X,), and the action that led to it, (U,), empty at step 0."""

    session_id: str
    rollout: int
    step: int
    observation: Array
    applied_action: Array
    reward: float = 0.0


class Kind(IntEnum):
    """What a sender wants of a plant; the values are the constants of ``PlantAction``."""

    COMMAND = 0
    CLAIM = 1
    RELEASE = 2


@dataclass(frozen=True)
class ActionCommand:
    """An action u_k, (U,), for the transition that begins at ``step``; or a claim or release of the command,
    for which session and sender alone count."""

    session_id: str
    rollout: int
    step: int
    command: Array
    sender: str
    kind: Kind = Kind.COMMAND

    @classmethod
    def without_action(cls, kind: Kind, session_id: str, sender: str) -> ActionCommand:
        """A claim or a release."""
        return cls(session_id, 0, 0, np.empty(0), sender, kind)


@dataclass(frozen=True)
class PlantDescription:
    """What a plant says of itself on ``plant_info``; the lengths of the tuples are its dimensions."""

    session_id: str
    plant: str
    mode: str
    period: float
    observation_names: tuple[str, ...]
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    commander: str = ""
    hidden_context: tuple[float, ...] = field(default=())

    @property
    def observation_dim(self) -> int:
        return len(self.observation_names)

    @property
    def action_dim(self) -> int:
        return len(self.action_low)


@dataclass(frozen=True)
class BeliefSample:
    """A context belief as it is published: Gaussian over the latent context, and the embedding it follows
    from.

    ``mean``, ``std`` (L,); ``embedding`` (E,), float32: the element-wise maximum of all transition
    embeddings; ``status`` is one of the constants of ``ContextBelief``.
    """

    session_id: str
    model_hash: str
    mean: Array
    std: Array
    entropy: float
    information_gained: float
    expected_gain: float
    number_of_transitions: int
    embedding: NDArray[np.float32]
    status: int


def checked_vector(what: str, values: Array, size: int) -> Array:
    """Return ``values`` if it has ``size`` finite entries, else raise :class:`RejectedMessage`. Finite as the
    model sees them: 1e39 is a number here and infinity there."""
    if values.shape != (size,):
        raise RejectedMessage(Rejection.WRONG_SIZE, f"{what} has {values.size} entries, expected {size}")
    with np.errstate(over="ignore"):
        if not np.isfinite(values.astype(np.float32)).all():
            raise RejectedMessage(Rejection.NON_FINITE, f"{what} holds a number that is no finite float32")
    return values
