"""Endless simulated training data and the paper's sampling of target chunks and context sets (supplement,
'Data sampling').

Everything is a function of (seed, step): block r of the buffer is simulated from the seed and r, the
batch of a step is drawn from the seed and
the step. So a resumed run sees exactly what an uninterrupted one sees, and k processes that each take
their share of the batch see together
what one process sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explore_context.plants import Plant, random_rollouts
from explore_context_training.networks import Normalisation
from explore_context_training.settings import DataSettings, StageSettings, at

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

# Which rollout of a pair: the paper's target and context rollout.
TARGET, CONTEXT = 0, 1


@dataclass(frozen=True)
class Transitions:
    """x (..., X), u (..., U), x+ (..., X)."""

    state: Floats
    action: Floats
    following: Floats

    def __getitem__(self, index: slice | Ints) -> Transitions:
        return Transitions(self.state[index], self.action[index], self.following[index])


@dataclass(frozen=True)
class Batch:
    """Target chunks and context sets of ``n`` systems.

    ``states`` (n, H+1, X), ``actions`` (n, H, U), ``noise`` (n, B) standard normal, for the sample of beta.
    Context sets share rows two by two: row i of ``context`` (n/2, M, ...) holds the set of system i in
    its first ``split[i]`` columns and
    that of system i + n/2 in the rest. Sizes are uniform on 0..M for both and no column is padding, so
    nothing is computed for nothing.
    """

    states: Floats
    actions: Floats
    context: Transitions
    split: Ints
    noise: Floats


@dataclass(frozen=True)
class _Block:
    states: Floats  # (2, pairs, N+1, X)
    actions: Floats  # (2, pairs, N, U)
    independent: Transitions  # (pairs, I, ...)


class EndlessData:
    """A buffer of rollout pairs whose oldest block is replaced every ``refresh_every`` steps."""

    def __init__(self, plant: Plant, settings: DataSettings, seed: int) -> None:
        self.plant, self.settings, self.seed = plant, settings, seed
        self._blocks: dict[int, _Block] = {}

    def normalisation(self) -> Normalisation:
        """Statistics of the first block; the largest action is one."""
        states = self._block(0).states
        change = np.diff(states, axis=2)
        flat = states.reshape(-1, states.shape[-1]).astype(np.float64)
        return Normalisation(
            state_mean=_floats(flat.mean(0)),
            state_scale=_floats(flat.std(0)),
            action_scale=tuple(self.plant.spec.action_high),
            change_scale=_floats(change.reshape(-1, change.shape[-1]).std(0)),
            state_low=_floats(_bound(self.plant.spec.observation_low, flat.min(0), flat, -1)),
            state_high=_floats(_bound(self.plant.spec.observation_high, flat.max(0), flat, 1)),
        )

    def batch(
        self, step: int, stage: StageSettings, progress: float, belief: int, share: tuple[int, int] = (0, 1)
    ) -> Batch:
        """Batch of a step; ``share`` = (rank, processes): this process's part of the batch's rows."""
        rng = np.random.default_rng([self.seed, 1, step])
        blocks = self._current_blocks(step)
        half = stage.batch // 2
        chunk, most = round(at(stage.chunk, progress)), round(at(stage.context, progress))
        which = rng.integers(0, len(blocks), 2 * half)
        pair = rng.integers(0, len(blocks[0].states[0]), 2 * half)
        start = rng.integers(0, self.settings.rollout - chunk + 1, 2 * half)
        split = rng.integers(0, most + 1, half)
        draws = _ContextDraws.sample(rng, half, most, stage, progress)
        noise = rng.standard_normal((2 * half, belief), dtype=np.float32)
        rank, processes = share
        rows = np.arange(rank, half, processes)
        both = np.concatenate([rows, rows + half])
        return self._gather(blocks, which, pair, start, chunk, rows, both, split, draws, noise)

    def _gather(
        self,
        blocks: list[_Block],
        which: Ints,
        pair: Ints,
        start: Ints,
        chunk: int,
        rows: Ints,
        both: Ints,
        split: Ints,
        draws: _ContextDraws,
        noise: Floats,
    ) -> Batch:
        # One big array over the blocks would be copied at each refresh; instead rows are gathered block
        # by block.
        spec = self.plant.spec
        columns = np.arange(draws.source.shape[1])
        first = columns[None] < split[rows, None]
        owner = np.where(
            first, rows[:, None], rows[:, None] + len(split)
        )  # whose context a column is, (r, M)
        time = draws.time(rows, start[owner], chunk, self.settings.rollout)
        states = np.empty((len(both), chunk + 1, spec.observation_dim), np.float32)
        actions = np.empty((len(both), chunk, spec.action_dim), np.float32)
        context = Transitions(
            np.empty((*owner.shape, spec.observation_dim), np.float32),
            np.empty((*owner.shape, spec.action_dim), np.float32),
            np.empty((*owner.shape, spec.observation_dim), np.float32),
        )
        steps = np.arange(chunk + 1)
        for index, block in enumerate(blocks):
            mine = np.flatnonzero(which[both] == index)
            p, s = pair[both[mine], None], start[both[mine], None]
            states[mine] = block.states[TARGET][p, s + steps]
            actions[mine] = block.actions[TARGET][p, s + steps[:-1]]
            r, c = np.nonzero(which[owner] == index)
            source = draws.source[rows[r], c]
            p, t = pair[owner[r, c]], time[r, c]
            rollout = np.minimum(source, CONTEXT)
            context.state[r, c] = block.states[rollout, p, t]
            context.action[r, c] = block.actions[rollout, p, t]
            context.following[r, c] = block.states[rollout, p, t + 1]
            if self.settings.independent:
                alone = source > CONTEXT
                r, c, p = r[alone], c[alone], p[alone]
                i = draws.uniform_index(rows[r], c, self.settings.independent)
                context.state[r, c] = block.independent.state[p, i]
                context.action[r, c] = block.independent.action[p, i]
                context.following[r, c] = block.independent.following[p, i]
        return Batch(states, actions, context, split[rows], noise[both])

    def _current_blocks(self, step: int) -> list[_Block]:
        newest = step // self.settings.refresh_every + self.settings.blocks - 1
        indices = range(newest - self.settings.blocks + 1, newest + 1)
        for old in [index for index in self._blocks if index < indices[0]]:
            del self._blocks[old]
        return [self._block(index) for index in indices]

    def _block(self, index: int) -> _Block:
        if index not in self._blocks:
            self._blocks[index] = self._simulate(np.random.default_rng([self.seed, 0, index]))
        return self._blocks[index]

    def _simulate(self, rng: np.random.Generator) -> _Block:
        pairs = self.settings.pairs // self.settings.blocks
        contexts = self.plant.sample_context(rng, pairs)
        rollouts = [random_rollouts(self.plant, contexts, self.settings.rollout, rng) for _ in range(2)]
        return _Block(
            np.stack([r.observations for r in rollouts]).astype(np.float32),
            np.stack([r.actions for r in rollouts]).astype(np.float32),
            independent_transitions(self.plant, contexts, self.settings.independent, rng),
        )


@dataclass(frozen=True)
class _ContextDraws:
    """Random choices behind the context columns, (n/2, M): source 0 target rollout, 1 context rollout, 2
    independent transition.
    """

    source: Ints
    position: Floats
    window: float | None

    @classmethod
    def sample(
        cls, rng: np.random.Generator, half: int, most: int, stage: StageSettings, progress: float
    ) -> _ContextDraws:
        independent = at(stage.p_context_independent, progress)
        target = at(stage.p_context_from_target, progress)
        choice = rng.random((half, most))
        source = np.where(
            choice < independent,
            2,
            np.where(choice < independent + (1 - independent) * target, TARGET, CONTEXT),
        )
        window = None if stage.target_window is None else at(stage.target_window, progress)
        return cls(source.astype(np.int64), rng.random((half, most), dtype=np.float32), window)

    def time(self, rows: Ints, start: Ints, chunk: int, rollout: int) -> Ints:
        """Step of each context transition within its rollout; near the chunk if a window is set and the
        source is the target.
        """
        low, high = np.zeros_like(start), np.full_like(start, rollout)
        if self.window is not None:
            near = self.source[rows] == TARGET
            low = np.where(near, np.maximum(start - round(self.window), 0), low)
            high = np.where(near, np.minimum(start + chunk + round(self.window), rollout), high)
        return np.minimum(low + (self.position[rows] * (high - low)).astype(np.int64), high - 1)

    def uniform_index(self, rows: Ints, columns: Ints, size: int) -> Ints:
        return np.minimum((self.position[rows, columns] * size).astype(np.int64), size - 1)


def independent_transitions(
    plant: Plant, contexts: NDArray[np.float64], number: int, rng: np.random.Generator
) -> Transitions:
    """``number`` single transitions per system from fresh training states and uniform actions, (n,
    number, ...).
    """
    n = len(contexts)
    state = plant.initial_state("training", rng, n * number)
    action = plant.sample_actions(rng, (n * number,))
    following = plant.step(state, action, np.repeat(contexts, number, axis=0), rng) if number else state
    shaped = [
        a.reshape(n, number, a.shape[-1]).astype(np.float32)
        for a in (plant.observe(state), action, plant.observe(following))
    ]
    return Transitions(*shaped)


def _bound(
    declared: tuple[float, ...], seen: NDArray[np.float64], states: NDArray[np.float64], side: int
) -> NDArray[np.float64]:
    """The plant's own bound where it has one, else what was seen and a standard deviation more."""
    bound = np.asarray(declared, dtype=np.float64)
    return np.where(np.isfinite(bound), bound, seen + side * states.std(0))


def _floats(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
