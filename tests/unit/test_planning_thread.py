"""The planning thread: order, delivery in the caller's thread, failures, interruption, end."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.waiting import wait_until

from explore_context.model import ContextModel
from explore_context.nodes.planning_thread import Interrupted, InterruptiblePlanner, PlanningThread
from explore_context.planning import (
    ExpectedInformationGain,
    PaperPlannerSettings,
    RealtimePlannerSettings,
    make_planner,
)

MODELS = Path(__file__).parents[2] / "models"


def test_jobs_run_in_order_and_results_come_in_the_callers_thread() -> None:
    woken: list[int] = []
    thread = PlanningThread(lambda: woken.append(1))
    results: list[tuple[int, bool]] = []
    for number in range(5):
        thread.submit(
            lambda number=number: (number, threading.get_ident()),  # type: ignore[misc]
            lambda result: results.append((result[0], result[1] != threading.get_ident())),
            lambda error: pytest.fail(str(error)),
        )
    wait_until(lambda: len(woken) == 5)
    assert results == []
    thread.deliver()
    assert results == [(number, True) for number in range(5)]
    assert thread.close()


def test_a_failing_job_is_delivered_as_a_failure_and_the_thread_lives_on() -> None:
    woken: list[int] = []
    thread = PlanningThread(lambda: woken.append(1))
    failures: list[Exception] = []
    results: list[float] = []
    thread.submit(lambda: 1 / 0, results.append, failures.append)
    thread.submit(lambda: 2.0, results.append, failures.append)
    wait_until(lambda: len(woken) == 2)
    thread.deliver()
    assert isinstance(failures[0], ZeroDivisionError) and results == [2.0]
    assert thread.close()


@pytest.mark.parametrize("settings", [PaperPlannerSettings(), RealtimePlannerSettings()])
def test_an_interrupted_planner_gives_up_at_the_next_evaluation(settings) -> None:
    planner = InterruptiblePlanner(make_planner(settings, [-1.0], [1.0]))
    calls: list[int] = []

    def objective(candidates):
        calls.append(len(candidates))
        planner.interrupt()
        return -np.abs(candidates).sum((1, 2))

    with pytest.raises(Interrupted):
        planner.plan(objective, 100, np.random.default_rng(0))
    assert len(calls) == 1 and calls[0] <= 80  # no piece is so large that it takes long


@pytest.mark.parametrize("settings", [PaperPlannerSettings(), RealtimePlannerSettings()])
def test_an_interruptible_planner_plans_the_same(settings) -> None:
    def objective(candidates):
        return -np.square(candidates - 0.3).sum((1, 2))

    plain = make_planner(settings, [-1.0], [1.0])
    plan = plain.plan(objective, 5, np.random.default_rng(0))
    wrapped = InterruptiblePlanner(make_planner(settings, [-1.0], [1.0]))
    same = wrapped.plan(objective, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(plan.actions, same.actions)
    assert plan.evaluations == same.evaluations


def test_an_interruptible_planner_uses_all_that_the_objective_has() -> None:
    """Finalists under more samples and suggested swings too: a node plans as a simulated calibration does."""
    model = ContextModel.load(MODELS / "pendulum")
    samples, finalist = (model.prior.sample(np.random.default_rng(seed), 4) for seed in (1, 2))
    objective = ExpectedInformationGain(model).bind([-1.0, 0.0, 0.5], model.prior, samples, finalist)
    settings = RealtimePlannerSettings(first_iterations=1, first_candidates=4)
    plan = make_planner(settings, [-2.0], [2.0]).plan(objective, 20, np.random.default_rng(0))
    poorer = make_planner(replace(settings, suggestions=0), [-2.0], [2.0])
    suggested = len(objective.suggestions(20))
    assert poorer.plan(objective, 20, np.random.default_rng(0)).evaluations == plan.evaluations - suggested
    wrapped = InterruptiblePlanner(make_planner(settings, [-2.0], [2.0]))
    same = wrapped.plan(objective, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(plan.actions, same.actions)
    assert plan.evaluations == same.evaluations
