"""Running units of work: order, cache, failure, and the joblib backends."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from explore_context_evaluation.cache import Cache
from explore_context_evaluation.models import find_models
from explore_context_evaluation.parallel import UnitError, backend, run_units, waves
from explore_context_evaluation.units import EntropyAndError, QuadrantEntropy, Record, Unit

MODELS = Path(__file__).parents[2] / "models"
COUNTED: list[int] = []


@dataclass(frozen=True)
class Sum(Unit):
    """The number of the unit plus the sums of what it needs."""

    number: int
    parts: tuple[Sum, ...] = ()

    @property
    def needs(self) -> tuple[Unit, ...]:
        return self.parts

    @property
    def cost(self) -> float:
        return 1.0

    def run(self, inputs: list[Record]) -> Record:
        if self.number < 0:
            raise ArithmeticError("negative")
        COUNTED.append(self.number)
        return {"sum": np.array(self.number + sum(int(part["sum"]) for part in inputs))}


ONE, TWO = Sum(1), Sum(2)
THREE = Sum(3, (ONE, TWO))
FOUR = Sum(4, (THREE, ONE))


def test_needs_come_first_and_everything_once() -> None:
    assert waves([FOUR, THREE, TWO]) == [[ONE, TWO], [THREE], [FOUR]]
    assert waves([]) == []


def test_results_and_cache(tmp_path: Path) -> None:
    COUNTED.clear()
    results = run_units([FOUR, THREE], Cache(tmp_path), progress=False)
    assert {unit: int(record["sum"]) for unit, record in results.items()} == {
        ONE: 1,
        TWO: 2,
        THREE: 6,
        FOUR: 11,
    }
    assert sorted(COUNTED) == [1, 2, 3, 4]
    run_units([FOUR], Cache(tmp_path), progress=False)
    assert len(COUNTED) == 4, "all of it came from the cache"
    run_units([FOUR], Cache(tmp_path, fresh=True), progress=False)
    assert len(COUNTED) == 8


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    COUNTED.clear()
    with pytest.raises(UnitError, match=r"Sum \(\) failed: ArithmeticError: negative"):
        run_units([ONE, Sum(9, (TWO, Sum(-1)))], Cache(tmp_path), progress=False)
    done = list(COUNTED)
    run_units([ONE], Cache(tmp_path), progress=False)
    assert done == COUNTED, "what was ready before the failure is kept"


def _real_units() -> list[Unit]:
    (model,) = find_models(MODELS).choose("pendulum", 1)
    return [QuadrantEntropy(model, 0, 1), QuadrantEntropy(model, 1, 1), EntropyAndError(model, 0, (3,), 2, 1)]


def _same(a: dict[Unit, Record], b: dict[Unit, Record]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[u][name], b[u][name]) for u in a for name in a[u])


def test_processes_give_the_same_results(tmp_path: Path) -> None:
    here = run_units(_real_units(), Cache(tmp_path / "here"), progress=False)
    with backend("loky", jobs=2):
        there = run_units(_real_units(), Cache(tmp_path / "there"), progress=False)
    assert _same(here, there)


@pytest.mark.timeout(300)
def test_a_dask_cluster_gives_the_same_results(tmp_path: Path) -> None:
    distributed = pytest.importorskip("dask.distributed")
    here = run_units(_real_units(), Cache(tmp_path / "here"), progress=False)
    with backend("dask", jobs=2):
        workers = distributed.get_client().scheduler_info()["workers"]
        there = run_units(_real_units(), Cache(tmp_path / "there"), progress=False)
    assert len(workers) == 2
    assert _same(here, there)
    assert list((tmp_path / "there").rglob("*.npz")), "the calling process fills the cache"


@pytest.mark.parametrize("name", ["loky", "threading", "sequential"])
def test_a_scheduler_needs_a_backend_that_has_one(name: str) -> None:
    with pytest.raises(ValueError, match="has no scheduler"), backend(name, 1, "tcp://somewhere:1"):
        pass


def test_ray_says_how_to_get_it() -> None:
    if importlib.util.find_spec("ray"):
        pytest.skip("ray is installed here")
    with pytest.raises(ValueError, match="ray is not installed"), backend("ray", 1):
        pass
