"""The thread in which a node thinks, so that its executor never waits for a planner. No ROS here.

Jobs run one after the other; what they return is delivered in the executor's thread: ``wake`` (the trigger of
a guard condition) asks the executor to call :meth:`PlanningThread.deliver`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from explore_context.nodes.entry import PLANNING_THREAD
from explore_context.planning.plan import Floats, Objective, Plan, Planner

T = TypeVar("T")
Failure = Callable[[Exception], None]

_PIECE = 8000  # candidates x steps; a real-time planner's population fits in one piece


class Interrupted(RuntimeError):
    """Nobody waits for this plan any more."""


class PlanningThread:
    """Starts with the first job, ends with :meth:`close`."""

    def __init__(self, wake: Callable[[], object], name: str = PLANNING_THREAD) -> None:
        self._wake = wake
        self._jobs: queue.SimpleQueue[Callable[[], Callable[[], None]] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        # A daemon, so that a job that hangs in foreign code cannot keep the process alive.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def submit(self, job: Callable[[], T], deliver: Callable[[T], None], fail: Failure) -> None:
        """Run ``job`` in the thread, then ``deliver(result)`` or ``fail(error)`` in the executor's."""

        def run() -> Callable[[], None]:
            try:
                result = job()
            except Exception as error:
                return lambda error=error: fail(error)  # type: ignore[misc]
            return lambda: deliver(result)

        self._jobs.put(run)
        # Not before: a thread inherits from its parent whether denormals are zero, and the parent knows that
        # only when it has opened a model.
        if self._thread.ident is None:
            self._thread.start()

    def deliver(self) -> None:
        """Hand over all results that are there; to be called by the executor."""
        while True:
            try:
                hand_over = self._results.get_nowait()
            except queue.Empty:
                return
            hand_over()

    def close(self, timeout: float = 2.0) -> bool:
        """Let the running job end and drop what it returns; true if the thread is gone."""
        self._jobs.put(None)
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._results.put(job())
            self._wake()


class InterruptiblePlanner(Planner):
    """A planner that gives up, with :class:`Interrupted`, at the next evaluation after ``interrupt()``."""

    def __init__(self, planner: Planner) -> None:
        super().__init__(planner.low, planner.high)
        self._planner = planner
        self._flag = threading.Event()

    def interrupt(self) -> None:
        self._flag.set()

    @property
    def samples(self) -> int:
        return self._planner.samples

    @property
    def finalist_samples(self) -> int:
        return self._planner.finalist_samples

    def draw(self, rng: np.random.Generator, n: int, dimensions: int) -> Floats:
        return self._planner.draw(rng, n, dimensions)

    def plan(
        self, objective: Objective, horizon: int, rng: np.random.Generator, deadline: float | None = None
    ) -> Plan:
        return self._planner.plan(_Interruptible(objective, self._flag), horizon, rng, deadline)

    def reset(self) -> None:
        self._planner.reset()

    def advance(self) -> None:
        self._planner.advance()


class _Interruptible:
    """The objective, cut into pieces of which each takes a fraction of a second, with a look at the flag
    between them."""

    def __init__(self, objective: Objective, flag: threading.Event) -> None:
        self._objective = objective
        self._flag = flag
        refined: Any = getattr(objective, "refined", None)
        self.refined = None if refined is None else _Interruptible(refined, flag)

    def __getattr__(self, name: str) -> Any:
        """What else an objective may have: suggestions, and a search on a device, which is over before
        anybody could want to interrupt it."""
        return getattr(self._objective, name)

    def __call__(self, candidates: Floats) -> Floats:
        size = max(1, _PIECE // candidates.shape[1])
        pieces = [candidates[i : i + size] for i in range(0, len(candidates), size)]
        return np.concatenate([self._score(piece) for piece in pieces])

    def _score(self, candidates: Floats) -> Floats:
        if self._flag.is_set():
            raise Interrupted("the plan is not wanted any more")
        return np.asarray(self._objective(candidates))
