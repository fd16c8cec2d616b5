"""Ways to act: how much a system can show to one who reacts to what it has shown.

The gain of an action sequence does not know that there will be another plan. A sequence that suits every
system that the belief holds for possible is cautious: it turns back early to see something for certain and
lacks these steps at the end. One who reacts can push along the motion, whatever the motor turns out to do.
So ways to act are imagined beside sequences: after a first action at a bound, always the bound that pushes
along the motion, but for one stretch in which it pushes against it, to the end.

What pushes along the motion an imagined system does not know from the context sample that moves it, but from
the belief that its imagined transitions have given so far: it has to learn, as the real one will, and where
it does not know, it keeps its action.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from explore_context.model import ContextModel
from explore_context.model.belief import gaussian_entropy
from explore_context.planning.execution import ExecutionSettings, Workers, single_threaded
from explore_context.planning.plan import Floats
from explore_context.planning.swings import corner_actions, velocity_columns

Ways = NDArray[np.int64]  # (W, 2): first step and number of steps of the stretch, sorted by the first

_LONGEST_STRETCH = 12
# Steps that are imagined, however many are still to come: they cost time, and the model's errors add up.
_FARTHEST = 30
# Predicted advantage, in scales of the velocity, from which an imagined system knows what pushes along it.
_CLEAR = 0.05


@dataclass(frozen=True)
class Outlook:
    """The first action (U,) after which most is to be learned, and how much, nats."""

    action: Floats
    gain: float


def draw_ways(rng: np.random.Generator, count: int, steps: int) -> Ways:
    """At most ``count`` stretches, spread evenly over the steps after the first and over their lengths."""
    if steps < 2:
        return np.empty((0, 2), np.int64)
    strata = np.arange(count) + rng.random((2, count))
    begin = 1 + strata[0] / count * (steps - 1)
    length = 1 + rng.permutation(strata[1]) / count * _LONGEST_STRETCH
    return np.stack([begin, length], axis=1).astype(np.int64)


class WayRunner:
    """Imagines ways with a model's encoder, belief and step graphs."""

    def __init__(self, model: ContextModel, settings: ExecutionSettings) -> None:
        self._corners, self._columns = corner_actions(model), velocity_columns(model)
        scale = np.asarray(model.manifest.normalisation["state_scale"], np.float32)
        self._scale = scale[self._columns]
        self._encoder, self._belief, self._step = (
            single_threaded(model, graph) for graph in ("encoder", "belief", "step")
        )
        self._workers = Workers(settings.threads)
        self._seconds_per_step = self._seconds_per_row = 0.0
        if self.available:
            self._warm_up(model)

    @property
    def available(self) -> bool:
        """Ways need velocities, and bounds few enough to try them all."""
        return bool(self._columns) and len(self._corners) > 0

    def outlook(
        self,
        state: Floats,
        pooled: Floats,
        beta: Floats,
        steps: int,
        count: int,
        rng: np.random.Generator,
        seconds: float | None = None,
    ) -> Outlook | None:
        """The best first action at ``state`` (1, X) with ``pooled`` (1, F), for context samples (S, B).

        Each sample counts with the way that is best for it: once it knows itself, an imagined system will
        plan for itself. ``steps``: transitions still to come; ``count``: ways after each first action, fewer
        where ``seconds`` are too short.
        """
        if not self.available:
            return None
        steps = min(steps, _FARTHEST)
        gains = self._gains(state, pooled, beta, draw_ways(rng, count, steps), steps, seconds)
        values = np.where(np.isfinite(gains), gains, -np.inf).max(axis=1).mean(axis=1)
        best = int(values.argmax())
        return Outlook(self._corners[best], float(values[best])) if np.isfinite(values[best]) else None

    def _gains(
        self, state: Floats, pooled: Floats, beta: Floats, ways: Ways, steps: int, seconds: float | None
    ) -> NDArray[np.float64]:
        """Drop of the entropy, (C, W + 1, S); the first way is that without a stretch."""
        threads = min(self._workers.threads, len(beta))
        block = len(self._corners) * -(-len(beta) // threads)
        if seconds is not None:
            ways = self._affordable(ways, steps, block, seconds)
        parts = np.array_split(beta, threads)
        begin = time.monotonic()
        entropies = self._workers.map(lambda part: self._imagine(state, pooled, part, ways, steps), parts)
        rows = block * (steps + (steps - ways[:, 0]).sum())
        taken = time.monotonic() - begin - self._seconds_per_step * steps
        self._seconds_per_row = 0.5 * (self._seconds_per_row + max(taken, 0.0) / rows)
        entropy = gaussian_entropy(self._belief.run(["std"], {"pooled": pooled})[0])[0]
        return entropy - np.concatenate(entropies, axis=2)

    def _affordable(self, ways: Ways, steps: int, block: int, seconds: float) -> Ways:
        """As many of ``ways`` as ``seconds`` allow, still evenly spread."""
        rows = (seconds - self._seconds_per_step * steps) / max(self._seconds_per_row, 1e-9) / block - steps
        mean = max(1.0, (steps - ways[:, 0]).mean()) if len(ways) else 1.0
        count = int(np.clip(rows / mean, 0, len(ways)))
        return ways[((np.arange(count) + 0.5) * len(ways) / max(count, 1)).astype(int)]

    def _imagine(
        self, state: Floats, pooled: Floats, beta: Floats, ways: Ways, steps: int
    ) -> NDArray[np.float64]:
        """Entropies after ``steps`` transitions, (C, W + 1, S).

        One block of C S rows per way. All ways are alike until their stretch begins: only the first block,
        without a stretch, runs from the start, and the others begin as copies of it.
        """
        corners, samples, blocks = len(self._corners), len(beta), len(ways) + 1
        rows = corners * samples
        x = np.empty((blocks, rows, state.shape[1]), np.float32)
        memory = np.empty((blocks, rows, pooled.shape[1]), np.float32)
        chosen = np.empty((blocks, rows), np.intp)
        x[0], memory[0], chosen[0] = state, pooled, np.repeat(np.arange(corners), samples)
        beta = np.tile(beta, (blocks * corners, 1))
        begun = 1
        for step in range(steps):
            joined = 1 + int(np.searchsorted(ways[:, 0], step, side="right"))
            x[begun:joined], memory[begun:joined], chosen[begun:joined] = x[0], memory[0], chosen[0]
            begun = joined
            now = x[:begun].reshape(begun * rows, -1)
            known = memory[:begun].reshape(begun * rows, -1)
            choice = chosen[:begun].reshape(begun * rows)
            if step:
                against = np.repeat([False, *(step < ways[: begun - 1].sum(axis=1))], rows)
                choice[:] = self._react(now, known, choice, against)
            feeds = {"state": now, "action": self._corners[choice]}
            following = self._step.run(["mean"], {**feeds, "beta": beta[: begun * rows]})[0]
            np.maximum(known, self._encoder.run(None, {**feeds, "following": following})[0], out=known)
            now[:] = following
        std = self._belief.run(["std"], {"pooled": memory.reshape(blocks * rows, -1)})[0]
        return gaussian_entropy(std).reshape(blocks, corners, samples).swapaxes(0, 1)

    def _react(
        self, x: Floats, memory: Floats, chosen: NDArray[np.intp], against: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        """Corners (n,) that push along the motion of x (n, X), or against it, for all that ``memory`` (n, F)
        tells; the present one where it does not tell."""
        rows, corners = np.arange(len(x)), len(self._corners)
        mean = self._belief.run(["mean"], {"pooled": memory})[0]
        feeds = {
            "state": np.repeat(x, corners, axis=0),
            "action": np.tile(self._corners, (len(x), 1)),
            "beta": np.repeat(mean, corners, axis=0),
        }
        following = self._step.run(["mean"], feeds)[0][:, self._columns].reshape(len(x), corners, -1)
        velocity = x[:, self._columns] / self._scale
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        direction = np.where(against, -1.0, 1.0)[:, None] * velocity / np.maximum(speed, 1e-9)
        along = ((following / self._scale) @ direction[:, :, None])[:, :, 0]
        best = along.argmax(axis=1)
        return np.where(along[rows, best] - along[rows, chosen] > _CLEAR, best, chosen)

    def _warm_up(self, model: ContextModel) -> None:
        """Runs the graphs once and learns what a step and a row of it cost on this machine."""
        state, pooled = np.zeros((1, model.state_dim), np.float32), model.prior.embedding[None]
        beta, steps = np.zeros((2 * self._workers.threads, model.belief_dim), np.float32), 4
        few, many = (np.ones((count, 2), np.int64) for count in (0, 16))
        for ways in (few, many):  # not measured: the first runs allocate
            self._imagine(state, pooled, beta[:1], ways, steps)
        begin = time.monotonic()
        self._imagine(state, pooled, beta[:1], few, steps)
        self._seconds_per_step = (time.monotonic() - begin) / steps
        for _ in range(3):
            self._gains(state, pooled, beta, many, steps, None)


_runners: WeakKeyDictionary[ContextModel, dict[ExecutionSettings, WayRunner]] = WeakKeyDictionary()


def way_runner(model: ContextModel, settings: ExecutionSettings | None = None) -> WayRunner:
    """The runner of a model, made and warmed up once."""
    settings = settings or ExecutionSettings()
    runners = _runners.setdefault(model, {})
    if settings not in runners:
        runners[settings] = WayRunner(model, settings)
    return runners[settings]
