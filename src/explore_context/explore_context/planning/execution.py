"""Running a planner graph on many candidates.

On a CPU: blocks that stay in a core's cache, shared out to a few threads. ONNX Runtime releases the GIL, so
plain Python threads, each calling a single-threaded session, use all cores without the synchronisation that
an intra-op pool needs after every small product. On a GPU: one call for all candidates with bound device
tensors (``device.py``).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import onnxruntime as ort

from explore_context.model import ContextModel
from explore_context.model.manifest import graph_path
from explore_context.model.sessions import open_session
from explore_context.planning.plan import Floats

T = TypeVar("T")
R = TypeVar("R")

_MOST_THREADS = 8


@dataclass(frozen=True)
class ExecutionSettings:
    """How a CPU evaluates candidates.

    ``workers``: threads that evaluate blocks; 0: one per available core, at most 8. ``block_rows``:
    candidates x samples in a block; the activations of 512 rows fit in a second-level cache of 1 MiB.
    """

    workers: int = 0
    block_rows: int = 512

    def __post_init__(self) -> None:
        if self.workers < 0 or self.block_rows < 1:
            raise ValueError(f"workers must not be negative and block_rows at least 1: {self}")

    @property
    def threads(self) -> int:
        return self.workers or min(_MOST_THREADS, len(os.sched_getaffinity(0)))


class Workers:
    """Shares work out to a few threads, of which the caller's is one."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1, "planning") if threads > 1 else None

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """``function`` of every item, in order; a free thread takes the next item."""
        waiting = deque(enumerate(items))
        results: dict[int, R] = {}

        def work() -> None:
            while True:
                try:
                    index, item = waiting.popleft()
                except IndexError:
                    return
                results[index] = function(item)

        helpers = []
        if self._pool:
            helpers = [self._pool.submit(work) for _ in range(min(self.threads, len(items)) - 1)]
        work()
        for helper in helpers:
            helper.result()
        return [results[index] for index in range(len(items))]


class BlockRunner:
    """Evaluates ``actions`` (K, H, U) with one of a model's graphs, the other inputs given."""

    def __init__(self, model: ContextModel, graph: str, settings: ExecutionSettings) -> None:
        self._session = single_threaded(model, graph)
        self._settings = settings
        self._workers = Workers(settings.threads)

    def run(self, fixed: Mapping[str, Floats], actions: Floats) -> Floats:
        """First output of the graph for all candidates, (K, ...)."""
        actions = np.ascontiguousarray(actions, dtype=np.float32)
        blocks = np.array_split(actions, self.blocks(len(actions), len(fixed["beta"])))
        return np.concatenate(
            self._workers.map(lambda block: self._session.run(None, {**fixed, "actions": block})[0], blocks)
        )

    def blocks(self, candidates: int, samples: int) -> int:
        """As few blocks as the cache allows, equally many for every thread."""
        wanted = -(-candidates * samples // self._settings.block_rows)
        rounds = -(-wanted // self._workers.threads)
        return max(1, min(candidates, rounds * self._workers.threads))


_runners: WeakKeyDictionary[ContextModel, dict[tuple[str, ExecutionSettings], BlockRunner]] = (
    WeakKeyDictionary()
)


def block_runner(model: ContextModel, graph: str, settings: ExecutionSettings | None = None) -> BlockRunner:
    """The runner of a graph, made and warmed up once per model: a calibration must not start with opening
    files.
    """
    settings = settings or ExecutionSettings()
    runners = _runners.setdefault(model, {})
    if (graph, settings) not in runners:
        runner = BlockRunner(model, graph, settings)
        inputs = {
            "state": np.zeros((1, model.state_dim), np.float32),
            "beta": np.zeros((1, model.belief_dim), np.float32),
        }
        if graph == "gain":
            inputs["pooled"] = np.zeros((1, model.embedding_dim), np.float32)
        runner.run(inputs, np.zeros((settings.threads, 2, model.action_dim), np.float32))
        runners[graph, settings] = runner
    return runners[graph, settings]


def single_threaded(model: ContextModel, graph: str) -> ort.InferenceSession:
    """A session of one of the model's graphs for threads of our own."""
    session = model.session(graph)  # raises with a remedy where the model has no such graph
    if model.settings.threads == 1:
        return session
    return open_session(graph_path(model.folder, graph), replace(model.settings, threads=1))
