"""Run units of work on all cores, or on a cluster, through joblib.

Whoever calls may put a ``joblib.parallel_config(backend=...)`` around it; the command line does so for
``--backend``. Results come home to the calling process, which alone writes the cache: workers need no common
disk except for the models.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence

import joblib
from tqdm import tqdm

from explore_context_evaluation.cache import Cache
from explore_context_evaluation.units.base import Record, Unit

CLUSTERS = ("dask", "ray")
BACKENDS = ("loky", "threading", "sequential", *CLUSTERS)
Results = dict[Unit, Record]


class UnitError(RuntimeError):
    """A unit of work failed; the message says which."""


def run_units(units: Iterable[Unit], cache: Cache, jobs: int | None = None, progress: bool = True) -> Results:
    """Results of ``units`` and of everything that they need, from the cache where it has them."""
    results: Results = {}
    for wave in waves(units):
        missing = []
        for unit in wave:
            stored = cache.load(unit)
            if stored is None:
                missing.append(unit)
            else:
                results[unit] = stored
        # the longest first: the last minutes then use all cores
        missing.sort(key=lambda unit: -unit.cost)
        with _progress_bar(missing, len(wave) - len(missing), progress) as bar:
            for index, record in _compute(missing, results, jobs):
                unit = missing[index]
                cache.store(unit, record)
                results[unit] = record
                bar.update(unit.cost)
    return results


def waves(units: Iterable[Unit]) -> list[list[Unit]]:
    """All units and their needs, each once, such that what a unit needs is in an earlier wave."""
    depths: dict[Unit, int] = {}

    def depth(unit: Unit) -> int:
        if unit not in depths:
            depths[unit] = 1 + max((depth(need) for need in unit.needs), default=-1)
        return depths[unit]

    for unit in units:
        depth(unit)
    return [
        [unit for unit, d in depths.items() if d == level]
        for level in range(max(depths.values(), default=-1) + 1)
    ]


@contextlib.contextmanager
def backend(name: str, jobs: int | None, scheduler: str | None = None) -> Iterator[None]:
    """The joblib backend ``name`` as the surroundings of ``run_units``; ``scheduler``: address of a running
    cluster, which only Dask and Ray have: anybody else would silently work on this machine instead.
    """
    if scheduler and name not in CLUSTERS:
        raise ValueError(
            f"--scheduler {scheduler}: the backend {name!r} has no scheduler; choose --backend dask or ray"
        )
    with contextlib.ExitStack() as stack:
        options: dict[str, object] = {}
        if name == "dask":
            stack.enter_context(_dask_client(jobs, scheduler))
        elif name == "ray":
            _join_ray(scheduler)
        elif name == "loky":
            options["inner_max_num_threads"] = 1  # one worker per core, each single-threaded
        stack.enter_context(
            joblib.parallel_config(backend=name, n_jobs=jobs or _default_jobs(name), **options)
        )
        yield


def _default_jobs(name: str) -> int:
    """All workers of a cluster; on this machine the cores that this process may use."""
    return -1 if name in CLUSTERS else len(os.sched_getaffinity(0))


@contextlib.contextmanager
def _dask_client(jobs: int | None, scheduler: str | None) -> Iterator[None]:
    from dask.distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        where: object = scheduler
        if scheduler is None:
            cores = jobs or len(os.sched_getaffinity(0))
            where = stack.enter_context(
                LocalCluster(
                    n_workers=cores, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR
                )
            )
        stack.enter_context(Client(where))
        yield


def _join_ray(scheduler: str | None) -> None:
    try:
        ray = importlib.import_module("ray")
        register_ray = importlib.import_module("ray.util.joblib").register_ray
    except ImportError:
        raise ValueError(
            "--backend ray: ray is not installed; pip install 'ray[default]' into the environment first"
        ) from None
    ray.init(address=scheduler)
    register_ray()


def _compute(units: Sequence[Unit], results: Results, jobs: int | None) -> Iterator[tuple[int, Record]]:
    """(index of the unit, its result), in the order in which they get ready."""
    if not units:
        return
    pool = _pool(jobs)
    tasks = (
        joblib.delayed(_execute)(k, unit, [results[need] for need in unit.needs])
        for k, unit in enumerate(units)
    )
    yield from pool(tasks)


def _pool(jobs: int | None) -> joblib.Parallel:
    """A backend that cannot hand out results one by one hands them out at the end: slower to resume, nothing
    else.
    """
    try:
        return joblib.Parallel(
            n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="3*n_jobs"
        )
    except ValueError:
        return joblib.Parallel(n_jobs=jobs, batch_size=1)


def _execute(index: int, unit: Unit, inputs: list[Record]) -> tuple[int, Record]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        return index, unit.run(inputs)
    except Exception as error:
        raise UnitError(f"{unit.label} failed: {type(error).__name__}: {error}") from error


def _progress_bar(units: Sequence[Unit], stored: int, progress: bool) -> tqdm:
    """Counts estimated seconds of work, not units: the time left is then about right from the start."""
    interactive = sys.stderr.isatty()
    return tqdm(
        total=sum(unit.cost for unit in units),
        desc=f"{len(units)} units" + (f", {stored} more from the cache" if stored else ""),
        bar_format="{desc}: {percentage:3.0f}% |{bar}| {elapsed} gone, {remaining} left",
        disable=not progress or not units,
        file=sys.stderr,
        mininterval=0.5 if interactive else 15.0,
        dynamic_ncols=interactive,
        smoothing=0.0,
    )
