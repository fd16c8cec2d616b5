"""The cache of finished units of work, and what makes a result invalid."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explore_context.planning import PaperPlannerSettings, RealtimePlannerSettings
from explore_context_evaluation.cache import Cache, code_text, code_version, unit_key
from explore_context_evaluation.models import ModelReference
from explore_context_evaluation.units import CalibrationRun, Record, Unit

MODEL = ModelReference("/somewhere/pendulum", "0123456789abcdef", "pendulum", True, "residual", 100, "cpu", 5)
RUN = CalibrationRun(MODEL, 0, "mpc", PaperPlannerSettings(), 30, 1, 20, 1)


@dataclass(frozen=True)
class Doubling(Unit):
    number: int

    @property
    def cost(self) -> float:
        return 1.0

    def run(self, inputs: list[Record]) -> Record:
        return {"doubled": np.array(2 * self.number)}


def test_what_is_stored_is_found_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.load(Doubling(3)) is None
    cache.store(Doubling(3), {"doubled": np.array(6), "names": np.array(["a", "b"])})
    found = Cache(tmp_path).load(Doubling(3))
    assert found is not None
    assert found["doubled"] == 6
    assert found["names"].tolist() == ["a", "b"]
    assert cache.load(Doubling(4)) is None
    assert not list(tmp_path.rglob("*.tmp"))


def test_fresh_ignores_what_is_there(tmp_path: Path) -> None:
    Cache(tmp_path).store(Doubling(3), {"doubled": np.array(6)})
    assert Cache(tmp_path, fresh=True).load(Doubling(3)) is None


def test_a_damaged_file_counts_as_missing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store(Doubling(3), {"doubled": np.arange(1000)})
    (path,) = tmp_path.rglob("*.npz")
    path.write_bytes(path.read_bytes()[:100])
    assert cache.load(Doubling(3)) is None
    path.write_bytes(b"")
    assert cache.load(Doubling(3)) is None


def test_the_key_follows_the_model_not_its_folder() -> None:
    moved = dataclasses.replace(MODEL, folder="/elsewhere/pendulum")
    retrained = dataclasses.replace(MODEL, model_hash="fedcba9876543210")
    assert unit_key(dataclasses.replace(RUN, model=moved)) == unit_key(RUN)
    assert unit_key(dataclasses.replace(RUN, model=retrained)) != unit_key(RUN)


def test_every_setting_changes_the_key() -> None:
    others = [
        dataclasses.replace(RUN, system=1),
        dataclasses.replace(RUN, scheme="open_loop"),
        dataclasses.replace(RUN, planner=PaperPlannerSettings(iterations=9)),
        dataclasses.replace(RUN, planner=RealtimePlannerSettings()),
        dataclasses.replace(RUN, transitions=15),
        dataclasses.replace(RUN, rollouts=3),
        dataclasses.replace(RUN, test_rollouts=5),
        dataclasses.replace(RUN, seed=2),
    ]
    assert len({unit_key(unit) for unit in [RUN, *others]}) == 1 + len(others)


def test_code_counts_and_prose_does_not() -> None:
    one = '"""Module."""\ndef f(x):\n    """Adds one."""\n    return x + 1  # really\n'
    same = "def f(x):\n    return x + 1\n"
    other = "def f(x):\n    return x + 2\n"
    assert code_text(one) == code_text(same)
    assert code_text(one) != code_text(other)
    assert len(code_version()) == 16
