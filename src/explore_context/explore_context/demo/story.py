"""What the demonstration has seen so far. No ROS here."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from explore_context.nodes.samples import Array
from explore_context.plants.pendulum import quadrant


@dataclass(frozen=True)
class Moment:
    """One state: rollout and step it belongs to, wrapped angle (0 upright), speed, torque that led to it."""

    rollout: int
    step: int
    angle: float
    speed: float
    torque: float


@dataclass(frozen=True)
class Knowledge:
    """A belief as it was published; ``mean``, ``std`` (B,)."""

    transitions: int
    entropy: float
    expected_gain: float
    mean: Array
    std: Array


@dataclass
class Story:
    """Moments in order, the beliefs of the calibration, and the return of the swing-up."""

    moments: list[Moment] = field(default_factory=list)
    knowledge: list[Knowledge] = field(default_factory=list)
    calibrated: bool = False
    total: float | None = None

    def add_state(self, rollout: int, step: int, observation: Array, action: Array) -> bool:
        """True if it is new; a plant repeats states that nobody answers."""
        if self.moments and (rollout, step) <= (self.moments[-1].rollout, self.moments[-1].step):
            return False
        angle = float(np.arctan2(observation[1], observation[0]))
        torque = float(action[0]) if len(action) else 0.0
        self.moments.append(Moment(rollout, step, angle, float(observation[2]), torque))
        return True

    def add_belief(self, knowledge: Knowledge, *, calibrated: bool) -> None:
        if not self.knowledge or knowledge.transitions >= self.knowledge[-1].transitions:
            if self.knowledge and self.knowledge[-1].transitions == knowledge.transitions:
                self.knowledge.pop()
            self.knowledge.append(knowledge)
        self.calibrated = self.calibrated or calibrated

    def rollout(self, number: int) -> list[Moment]:
        return [moment for moment in self.moments if moment.rollout == number]

    @property
    def calibration_rollout(self) -> int:
        """Rollout 0 is the plant before anybody came; the calibration begins with a reset."""
        return 1

    @property
    def swing_up_rollout(self) -> int:
        return 2

    def quadrants(self) -> set[int]:
        """Visited by the calibration."""
        angles = np.array([moment.angle for moment in self.rollout(self.calibration_rollout)])
        return set(quadrant(angles).tolist())
