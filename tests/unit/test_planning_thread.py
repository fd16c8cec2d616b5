"""The planning thread: order, delivery in the caller's thread, failures, interruption, end."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.helpers.waiting import wait_until

from explore_context.nodes.planning_thread import Interrupted, InterruptiblePlanner, PlanningThread
from explore_context.planning import PaperPlannerSettings, RealtimePlannerSettings, make_planner


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
