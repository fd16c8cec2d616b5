"""What every planner promises, and what the paper's algorithm says literally. Objectives are plain functions:
no model, no ROS.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from explore_context.planning import (
    PaperPlannerSettings,
    Plan,
    Planner,
    PlannerSettings,
    PlanningError,
    RealtimePlannerSettings,
    make_planner,
)
from explore_context.planning.cem import HostSearch, elite_indices
from explore_context.planning.sampling import primitives

Scores = NDArray[np.floating]
SETTINGS: dict[str, PlannerSettings] = {
    "paper": PaperPlannerSettings(iterations=8, candidates=300, elites=30),
    "realtime": RealtimePlannerSettings(
        iterations=8, first_iterations=8, candidates=100, first_candidates=200, decay=0.9
    ),
}


@pytest.fixture(params=SETTINGS)
def make(request: pytest.FixtureRequest) -> Callable[..., Planner]:
    def build(low: tuple[float, ...] = (-2.0,), high: tuple[float, ...] = (2.0,)) -> Planner:
        return make_planner(SETTINGS[request.param], low, high)

    return build


def quadratic(target: NDArray[np.floating]) -> Callable[[NDArray[np.float32]], Scores]:
    return lambda candidates: -((candidates - target) ** 2).sum(axis=(1, 2))


def search(planner: Planner, objective: Callable[..., Scores], horizon: int, seed: int = 0) -> Plan:
    return planner.plan(objective, horizon, np.random.default_rng(seed))


@pytest.mark.parametrize("horizon", [1, 2, 6])
def test_finds_the_optimum_of_a_quadratic(make: Callable[..., Planner], horizon: int) -> None:
    target = np.linspace(-1.0, 1.5, horizon)[:, None]
    plan = search(make(), quadratic(target), horizon)
    np.testing.assert_allclose(plan.actions, target, atol=0.3)
    assert plan.score > -0.3


def test_finds_the_optimum_of_two_actions_with_unequal_bounds(make: Callable[..., Planner]) -> None:
    target = np.array([[0.5, 30.0], [0.9, 12.0]])
    scale = np.array([1.0, 40.0])
    plan = search(make((0.0, 0.0), (1.0, 40.0)), lambda c: quadratic(target / scale)(c / scale), 2)
    np.testing.assert_allclose(plan.actions / scale, target / scale, atol=0.15)


def test_finds_optima_at_the_corners(make: Callable[..., Planner]) -> None:
    signs = np.array([1.0, -1.0, 1.0, 1.0])[:, None]
    plan = search(make(), lambda candidates: (candidates * signs).sum(axis=(1, 2)), 4)
    np.testing.assert_allclose(plan.actions, 2.0 * signs, atol=0.1)


def test_every_candidate_and_the_plan_respect_the_bounds(make: Callable[..., Planner]) -> None:
    low, high = np.array([-1.0, 2.0]), np.array([0.5, 7.0])

    def checking(candidates: NDArray[np.float32]) -> Scores:
        assert candidates.dtype == np.float32 and candidates.shape[1:] == (3, 2)
        assert (candidates >= low).all() and (candidates <= high).all()
        return candidates.sum(axis=(1, 2))

    plan = search(make(tuple(low), tuple(high)), checking, 3)
    assert plan.actions.shape == (3, 2)
    assert (plan.actions >= low).all() and (plan.actions <= high).all()


def test_seeds_reproduce_plans(make: Callable[..., Planner]) -> None:
    objective = quadratic(np.full((5, 1), 0.7))
    plans = [search(make(), objective, 5, seed) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(plans[0].actions, plans[1].actions)
    assert plans[0].score == plans[1].score
    assert not np.array_equal(plans[0].actions, plans[2].actions)


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_non_finite_scores_never_become_elites(make: Callable[..., Planner], poison: float) -> None:
    target = np.full((3, 1), -1.0)

    def objective(candidates: NDArray[np.float32]) -> Scores:
        return np.where((candidates > 0.0).any(axis=(1, 2)), poison, quadratic(target)(candidates))

    plan = search(make(), objective, 3)
    assert np.isfinite(plan.score)
    np.testing.assert_allclose(plan.actions, target, atol=0.4)


def test_nothing_but_non_finite_scores_is_a_clear_error(make: Callable[..., Planner]) -> None:
    with pytest.raises(PlanningError, match="non-finite"):
        search(make(), lambda candidates: np.full(len(candidates), np.nan), 3)


def test_a_deadline_in_the_past_still_gives_a_plan(make: Callable[..., Planner]) -> None:
    calls = []

    def objective(candidates: NDArray[np.float32]) -> Scores:
        calls.append(len(candidates))
        return candidates.sum(axis=(1, 2))

    plan = make().plan(objective, 4, np.random.default_rng(0), deadline=time.monotonic() - 1.0)
    assert not plan.finished
    assert plan.actions.shape == (4, 1)
    assert len(calls) <= 2 and plan.evaluations == sum(calls)


def test_an_evaluation_that_would_end_late_is_not_begun(make: Callable[..., Planner]) -> None:
    """Scoring takes time in proportion to the candidates."""
    calls = []

    def slow(candidates: NDArray[np.float32]) -> Scores:
        calls.append(time.monotonic())
        while time.monotonic() < calls[-1] + 0.05 * len(candidates) / 100:
            time.sleep(0.002)
        return candidates.sum(axis=(1, 2))

    deadline = time.monotonic() + 0.32
    plan = make().plan(slow, 4, np.random.default_rng(0), deadline)
    assert not plan.finished
    assert max(calls) < deadline


def test_counts_evaluations_and_time(make: Callable[..., Planner]) -> None:
    seen = []

    def objective(candidates: NDArray[np.float32]) -> Scores:
        seen.append(len(candidates))
        return candidates.sum(axis=(1, 2))

    plan = search(make(), objective, 4)
    assert plan.finished and plan.evaluations == sum(seen) and plan.seconds > 0.0


@pytest.mark.parametrize(
    ("low", "high"), [((1.0,), (-1.0,)), ((np.nan,), (1.0,)), ((0.0,), (np.inf,)), ((0.0,), (1.0, 2.0))]
)
def test_impossible_bounds_are_refused(low: tuple[float, ...], high: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="bounds"):
        make_planner(PaperPlannerSettings(), low, high)


def test_the_paper_refits_with_the_unbiased_standard_deviation() -> None:
    noise = np.random.default_rng(0).standard_normal((6, 2, 1)).astype(np.float32)
    bounds = np.array([-9.0], np.float32), np.array([9.0], np.float32)
    zeros, ones = np.zeros((2, 1), np.float32), np.ones((2, 1), np.float32)
    search = HostSearch(lambda c: c[:, 0, 0], zeros, ones, bounds, elites=3)
    search.iterate(noise)
    elites = noise[np.argsort(-noise[:, 0, 0])[:3]]
    np.testing.assert_allclose(search.mean, elites.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(search.std, np.sqrt(elites.var(axis=0) * 3 / 2), rtol=1e-6)


def test_the_paper_executes_the_mean_of_the_last_elites() -> None:
    seen: list[NDArray[np.float32]] = []

    def objective(candidates: NDArray[np.float32]) -> Scores:
        seen.append(candidates)
        return quadratic(np.full((3, 1), 0.4))(candidates)

    settings = PaperPlannerSettings(iterations=2, candidates=50, elites=5)
    plan = search(make_planner(settings, [-2.0], [2.0]), objective, 3)
    population = seen[1]
    elites = population[elite_indices(quadratic(np.full((3, 1), 0.4))(population), 5)]
    np.testing.assert_allclose(plan.actions, elites.mean(axis=0), rtol=1e-6)
    assert not any(np.array_equal(plan.actions, candidate) for candidate in population)


def test_the_paper_starts_anew_at_every_plan() -> None:
    planner = make_planner(PaperPlannerSettings(iterations=2, candidates=50, elites=5), [-2.0], [2.0])
    first = search(planner, quadratic(np.full((4, 1), 1.0)), 4)
    planner.advance()
    search(planner, quadratic(np.full((4, 1), -1.5)), 4, seed=9)
    again = search(planner, quadratic(np.full((4, 1), 1.0)), 4)
    np.testing.assert_array_equal(first.actions, again.actions)


def test_the_realtime_planner_executes_its_best_candidate() -> None:
    best: list[tuple[float, NDArray[np.float32]]] = []

    def objective(candidates: NDArray[np.float32]) -> Scores:
        scores = quadratic(np.full((3, 1), 0.4))(candidates)
        best.append((float(scores.max()), candidates[scores.argmax()]))
        return scores

    plan = search(make_planner(RealtimePlannerSettings(), [-2.0], [2.0]), objective, 3)
    np.testing.assert_array_equal(plan.actions, max(best, key=lambda pair: pair[0])[1])


def test_the_realtime_planner_starts_from_the_shifted_plan() -> None:
    planner = make_planner(RealtimePlannerSettings(), [-2.0], [2.0])
    first = search(planner, quadratic(np.linspace(-1, 1, 5)[:, None]), 5)
    planner.advance()
    seen: list[NDArray[np.float32]] = []

    def objective(candidates: NDArray[np.float32]) -> Scores:
        seen.append(candidates)
        return np.zeros(len(candidates))

    search(planner, objective, 4)
    assert any(np.array_equal(candidate, first.actions[1:]) for candidate in seen[0])


def test_the_realtime_planner_forgets_on_reset() -> None:
    planner = make_planner(RealtimePlannerSettings(), [-2.0], [2.0])
    fresh = search(planner, quadratic(np.full((4, 1), 1.0)), 4)
    planner.reset()
    again = search(planner, quadratic(np.full((4, 1), 1.0)), 4)
    np.testing.assert_array_equal(fresh.actions, again.actions)


def test_the_realtime_planner_lets_the_refined_objective_decide() -> None:
    class Misleading:
        """Likes large actions; its refined self likes the smallest of the finalists."""

        def __call__(self, candidates: NDArray[np.float32]) -> Scores:
            return candidates.sum(axis=(1, 2))

        def refined(self, candidates: NDArray[np.float32]) -> Scores:
            self.finalists = candidates.copy()
            return -candidates.sum(axis=(1, 2))

    objective = Misleading()
    plan = search(make_planner(RealtimePlannerSettings(finalists=4), [-2.0], [2.0]), objective, 3)
    sums = objective.finalists.sum(axis=(1, 2))
    assert len(sums) == 4
    np.testing.assert_array_equal(plan.actions, objective.finalists[sums.argmin()])
    assert plan.score == pytest.approx(-sums.min())


def test_the_realtime_planner_keeps_time_for_its_finalists(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("explore_context.planning.realtime.time.monotonic", lambda: now[0])

    class Slow:
        """A second per candidate and sample, of which it has four; the refined one has eight."""

        samples = 4

        def __init__(self) -> None:
            self.calls: list[tuple[int, int]] = []

        def __call__(self, candidates: NDArray[np.float32], samples: int = 4) -> Scores:
            self.calls.append((len(candidates), samples))
            now[0] += samples * len(candidates)
            return candidates.sum(axis=(1, 2))

        def refined(self, candidates: NDArray[np.float32]) -> Scores:
            return self(candidates, 8)

    objective = Slow()
    # The planner's own number of samples is not that of the objective, as with a calibration's ``samples``.
    settings = RealtimePlannerSettings(first_candidates=10, decay=1.0, samples=1, finalist_samples=8)
    planner = make_planner(settings, [-2.0], [2.0])
    first = len(primitives(planner.low, planner.high, 3)) + 10
    # Then there is time for the 4 finalists (32) or for the next 11 candidates (44), but not for both.
    plan = planner.plan(objective, 3, np.random.default_rng(0), 4 * first + 60.0)
    assert objective.calls == [(first, 4), (4, 8)] and not plan.finished
    planner.reset()
    now[0], objective.calls = 0.0, []
    planner.plan(objective, 3, np.random.default_rng(0), 4 * first + 80.0)
    assert objective.calls == [(first, 4), (11, 4), (4, 8)]


def test_the_realtime_planner_tries_what_the_objective_suggests() -> None:
    class Lock:
        """One combination opens it; nothing else is any better than the rest."""

        secret = np.random.default_rng(0).uniform(-2, 2, (6, 1)).astype(np.float32)

        def __call__(self, candidates: NDArray[np.float32]) -> Scores:
            return (candidates == self.secret).all(axis=(1, 2)).astype(np.float64)

        def suggestions(self, horizon: int) -> NDArray[np.float32]:
            wrong = np.zeros((1, horizon, 1), np.float32)
            return np.concatenate([wrong, self.secret[None, :horizon]])

    for warm in (False, True):
        for wanted, opened in ((2, 1.0), (1, 0.0), (0, 0.0)):
            planner = make_planner(RealtimePlannerSettings(suggestions=wanted), [-2.0], [2.0])
            if warm:
                search(planner, quadratic(np.zeros((6, 1))), 6)
            assert search(planner, Lock(), 6).score == opened


def test_a_shifted_plan_repeats_its_last_action() -> None:
    plan = Plan(np.arange(4, dtype=np.float32)[:, None], 1.0, 10, 0.1, True)
    np.testing.assert_array_equal(plan.shifted(1, 4).actions[:, 0], [1, 2, 3, 3])
    np.testing.assert_array_equal(plan.shifted(2, 2).actions[:, 0], [2, 3])
    np.testing.assert_array_equal(plan.shifted(9, 2).actions[:, 0], [3, 3])
    assert not plan.shifted(1, 4).finished
