"""Between simulation states, joints and observations. No ROS here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explore_context.nodes.samples import Array, RejectedMessage, Rejection, checked_vector
from explore_context.plants import PlantSpec


@dataclass(frozen=True)
class JointLayout:
    """Joint names, and where position and velocity stand in the state and effort in the action; () = not
    known."""

    names: tuple[str, ...]
    position: tuple[int, ...]
    velocity: tuple[int, ...] = ()
    effort: tuple[int, ...] = ()


_LAYOUTS = {
    "pendulum": JointLayout(("pendulum_joint",), position=(0,), velocity=(1,), effort=(0,)),
    "mountain_car": JointLayout(("car_joint",), position=(0,), velocity=(1,), effort=(0,)),
}


def layout_of(spec: PlantSpec) -> JointLayout:
    """The joints of a plant; where nothing better is known, each entry of the state is a joint's position."""
    fallback = JointLayout(spec.state_names, position=tuple(range(spec.state_dim)))
    return _LAYOUTS.get(spec.name, fallback)


@dataclass(frozen=True)
class Joint:
    """What a robot reports of one joint; NaN where it reports nothing."""

    position: float
    velocity: float
    effort: float


_QUANTITIES: dict[str, Callable[[Joint], float]] = {
    "position": lambda joint: joint.position,
    "velocity": lambda joint: joint.velocity,
    "effort": lambda joint: joint.effort,
    "cos": lambda joint: float(np.cos(joint.position)),
    "sin": lambda joint: float(np.sin(joint.position)),
}


@dataclass(frozen=True)
class ObservationMapping:
    """Builds the observation x, (X,), from joints: entry ``joint:quantity``, e.g. ``pendulum_joint:cos``."""

    entries: tuple[tuple[str, str], ...]
    offsets: Mapping[str, float]

    @classmethod
    def parse(cls, entries: Sequence[str], offsets: Mapping[str, float]) -> ObservationMapping:
        """``offsets``: radians or metres to add to a joint's position, for a robot whose zero is
        elsewhere."""
        parsed = []
        for entry in entries:
            joint, _, quantity = entry.rpartition(":")
            if not joint or quantity not in _QUANTITIES:
                raise ValueError(
                    f"observation {entry!r} is not of the form joint:quantity with quantity one of "
                    f"{', '.join(_QUANTITIES)}"
                )
            parsed.append((joint, quantity))
        if not parsed:
            raise ValueError(
                "observation is empty; give a list such as [pendulum_joint:cos, pendulum_joint:sin]"
            )
        unknown = set(offsets) - {joint for joint, _ in parsed}
        if unknown:
            raise ValueError(f"offset for {', '.join(sorted(unknown))}, which no observation uses")
        return cls(tuple(parsed), dict(offsets))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{joint}_{quantity}" for joint, quantity in self.entries)

    def observe(self, names: Sequence[str], position: Array, velocity: Array, effort: Array) -> Array:
        """The observation of one joint-state message; raises RejectedMessage if a joint or number is
        missing."""
        columns = [_padded(what, len(names)) for what in (position, velocity, effort)]
        joints = {
            name: Joint(columns[0][k] + self.offsets.get(name, 0.0), columns[1][k], columns[2][k])
            for k, name in enumerate(names)
        }
        missing = {joint for joint, _ in self.entries} - joints.keys()
        if missing:
            raise RejectedMessage(Rejection.WRONG_SIZE, f"joint state without {', '.join(sorted(missing))}")
        values = np.array([_QUANTITIES[quantity](joints[joint]) for joint, quantity in self.entries])
        return checked_vector("joint state", values, len(self.entries))


def _padded(values: Array, size: int) -> Array:
    """JointState leaves out what a robot does not measure; anything but nothing or everything is
    malformed."""
    if values.size == 0:
        return np.full(size, np.nan)
    if values.size != size:
        raise RejectedMessage(Rejection.WRONG_SIZE, f"joint state with {size} names and {values.size} values")
    return values
