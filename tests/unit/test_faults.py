"""The fault injector does what its probabilities say, and the same again with the same seed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explore_context.nodes.faults import FaultInjector, FaultSettings, corrupt_vector

MESSAGES = 4000


def relayed(seed: int = 0, **settings: float) -> list[tuple[float, int]]:
    injector: FaultInjector[int] = FaultInjector(
        FaultSettings(**settings), np.random.default_rng(seed), lambda message, rng: -message - 1
    )
    return [arriving for message in range(MESSAGES) for arriving in injector(message)]


def test_nothing_happens_without_faults() -> None:
    assert relayed() == [(0.0, k) for k in range(MESSAGES)]


def test_drop() -> None:
    assert len(relayed(drop=0.3)) == pytest.approx(0.7 * MESSAGES, rel=0.05)
    assert relayed(drop=1.0) == []


def test_duplicate() -> None:
    arrived = [message for _, message in relayed(duplicate=0.2)]
    assert len(arrived) == pytest.approx(1.2 * MESSAGES, rel=0.05)
    assert set(arrived) == set(range(MESSAGES))


def test_reorder_swaps_neighbours_and_loses_nothing() -> None:
    arrived = [message for _, message in relayed(reorder=0.2)]
    assert arrived != sorted(arrived)
    assert len(set(arrived)) == len(arrived) >= MESSAGES - 1
    assert max(abs(message - place) for place, message in enumerate(arrived)) == 1


def test_corrupt_and_delay() -> None:
    arrived = relayed(corrupt=0.1, delay_probability=0.5, delay=0.2)
    assert np.mean([message < 0 for _, message in arrived]) == pytest.approx(0.1, abs=0.02)
    delays = np.array([delay for delay, _ in arrived])
    assert np.mean(delays > 0) == pytest.approx(0.5, abs=0.03) and delays.max() <= 0.2


def test_same_seed_same_faults() -> None:
    faults = {"drop": 0.2, "duplicate": 0.2, "reorder": 0.2, "corrupt": 0.2}
    assert relayed(3, **faults) == relayed(3, **faults) != relayed(4, **faults)


def test_corrupt_vector_is_always_wrong() -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 3):
        values = [1.0] * size
        for _ in range(100):
            spoiled = corrupt_vector(values, rng)
            assert len(spoiled) != size or not all(math.isfinite(value) for value in spoiled)
        assert values == [1.0] * size
