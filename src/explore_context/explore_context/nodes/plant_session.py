"""One simulated plant as a node runs it: session, rollout, step, commander. No ROS here.

All randomness is a function of (seed, draw), where ``draw`` counts the resets since that seed was given.
Hidden context, initial state and noise have streams of their own, so that the third system of a seed is the
same one however many steps the first two took: the same seed gives the same run.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explore_context.nodes.command import CommandAuthority, Mode
from explore_context.nodes.samples import ActionCommand, Array, Kind, PlantDescription, StateSample
from explore_context.plants import Plant

_CONTEXT, _INITIAL_STATE, _NOISE = range(3)
_BOUND_TOLERANCE = 1e-9
_LARGEST = 1e6  # of any number that a user sets: squares and products of larger ones may overflow


def random_stream(purpose: int, seed: int, draw: int) -> np.random.Generator:
    """The generator of one purpose in one rollout."""
    return np.random.default_rng((seed, draw, purpose))


@dataclass(frozen=True)
class SessionSettings:
    """``hidden_context`` (C entries) empty: sampled. ``period``: seconds between two steps in realtime."""

    mode: Mode
    period: float
    watchdog_time: float
    seed: int = 0
    hidden_context: tuple[float, ...] = ()
    initial_state_mode: str = "calibration"


@dataclass(frozen=True)
class ResetRequest:
    """Back to an initial state: drawn in ``initial_state_mode`` ('' = default), or ``state`` (S entries)
    itself."""

    initial_state_mode: str = ""
    state: tuple[float, ...] = ()
    seed: int = -1
    new_system: bool = False


class PlantSession:
    """Owns the state that the pure plant does not have. Rejected input changes nothing."""

    def __init__(
        self,
        plant: Plant,
        settings: SessionSettings,
        make_session_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        spec = plant.spec
        self.plant = plant
        self.settings = settings
        self._make_session_id = make_session_id
        self._seed, self._draw = settings.seed, 0
        self._hidden_context = settings.hidden_context
        self._action: Array = np.zeros(spec.action_dim)
        self.authority = CommandAuthority(
            settings.mode,
            np.array(spec.action_low),
            np.array(spec.action_high),
            settings.watchdog_time,
            settings.period,
        )
        self._begin(ResetRequest(new_system=True), self._drawn_context(), None)

    def offer(self, action: ActionCommand, now: float) -> bool:
        """Take an action or raise RejectedMessage; true if the plant advanced (lockstep)."""
        self.authority.offer(action, self.step, now)
        if self.settings.mode != "lockstep" or action.kind is not Kind.COMMAND:
            return False
        self._advance(self.authority.begin_transition(self.step, now))
        return True

    def tick(self, now: float) -> None:
        """Realtime: the transition under way ends now, the next one begins."""
        self._advance(self._action)
        self._action = self.authority.begin_transition(self.step, now)

    def reset(self, request: ResetRequest) -> None:
        """Begin a new rollout, or a new session with ``new_system``; raises ValueError and changes
        nothing."""
        mode = request.initial_state_mode
        if mode and mode not in self.plant.spec.initial_state_modes:
            known = ", ".join(self.plant.spec.initial_state_modes)
            raise ValueError(f"unknown initial_state_mode {mode!r}; choose one of {known}")
        if request.seed < -1:
            raise ValueError(f"seed must be -1 or not negative, got {request.seed}")
        state = self._checked_state(request.state) if request.state else None
        self._seed, self._draw = (self._seed, self._draw + 1) if request.seed < 0 else (request.seed, 0)
        self._begin(request, self._drawn_context() if request.new_system else self.context, state)

    def change_hidden_context(self, hidden_context: tuple[float, ...]) -> None:
        """Another system from now on (empty: a sampled one), hence another session."""
        if hidden_context:
            self.plant.check_context(np.array([hidden_context]))
        self._hidden_context = hidden_context
        self.reset(ResetRequest(new_system=True))

    def sample(self) -> StateSample:
        return StateSample(
            self.session_id,
            self.rollout,
            self.step,
            self.plant.observe(self.state)[0],
            self.applied_action,
            self.reward,
        )

    def describe(self, *, hidden_context: bool) -> PlantDescription:
        spec = self.plant.spec
        return PlantDescription(
            session_id=self.session_id,
            plant=spec.name,
            mode=self.settings.mode,
            period=self.settings.period,
            observation_names=spec.observation_names,
            action_low=spec.action_low,
            action_high=spec.action_high,
            commander=self.authority.commander,
            hidden_context=tuple(self.context[0].tolist()) if hidden_context else (),
        )

    def _begin(self, request: ResetRequest, context: Array, state: Array | None) -> None:
        mode = request.initial_state_mode or self.settings.initial_state_mode
        if state is None:
            state = self.plant.initial_state(mode, self._stream(_INITIAL_STATE), 1)
        if request.new_system:
            self.session_id, self.rollout = self._make_session_id(), 0
        else:
            self.rollout += 1
        self.context, self.state = context, state
        self.step, self.reward = 0, 0.0
        self.applied_action: Array = np.empty(0)
        # Nobody can know a rollout before it begins, so its first realtime transition has the zero action.
        self._action = np.zeros(self.plant.spec.action_dim)
        self._noise = self._stream(_NOISE)
        self.authority.begin_rollout(self.session_id, self.rollout)

    def _advance(self, action: Array) -> None:
        batch = action[None]
        if self.plant.has_reward:
            self.reward = float(self.plant.reward(self.state, batch, self.context)[0])
        self.state = self.plant.step(self.state, batch, self.context, self._noise)
        self.applied_action = action.copy()
        self.step += 1

    def _drawn_context(self) -> Array:
        if self._hidden_context:
            return self.plant.check_context(np.array([self._hidden_context], dtype=np.float64))
        return self.plant.sample_context(self._stream(_CONTEXT), 1)

    def _stream(self, purpose: int) -> np.random.Generator:
        return random_stream(purpose, self._seed, self._draw)

    def _checked_state(self, values: tuple[float, ...]) -> Array:
        spec = self.plant.spec
        if len(values) != spec.state_dim:
            names = ", ".join(spec.state_names)
            raise ValueError(f"state has {len(values)} entries, {spec.name} needs {spec.state_dim}: {names}")
        check_size("state", values)
        state = np.array([values], dtype=np.float64)
        observation = self.plant.observe(state)[0]
        low, high = np.array(spec.observation_low), np.array(spec.observation_high)
        bad = (observation < low - _BOUND_TOLERANCE) | (observation > high + _BOUND_TOLERANCE)
        if bad.any():
            k = int(np.argmax(bad))
            name, value = spec.observation_names[k], observation[k]
            raise ValueError(f"state gives {name} = {value:g}, outside [{low[k]:g}, {high[k]:g}]")
        return state


def check_size(what: str, values: Sequence[float]) -> None:
    if any(abs(value) > _LARGEST for value in values):
        raise ValueError(f"{what} has entries beyond {_LARGEST:g}")
