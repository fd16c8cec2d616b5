"""The summary in words."""

from __future__ import annotations

import numpy as np

from explore_context.nodes.summary import CalibrationFacts, Coverage, summary

FACTS = CalibrationFacts(
    plant="pendulum",
    success=True,
    message="",
    initial_entropy=22.7,
    entropy=9.8,
    transitions=30,
    rollouts=1,
    planning_time_median=0.031,
    planning_time_max=0.092,
    missed_deadlines=2,
    rejected_messages=0,
    duration=4.2,
)


def test_pendulum_summary_names_everything_that_counts() -> None:
    coverage = Coverage("pendulum")
    for angle in (3.0, -3.0, -1.0):
        coverage.add(np.array([np.cos(angle), np.sin(angle), 0.0]))
    assert coverage.quadrants == {0, 1, 3}
    text = "\n".join(summary(FACTS, coverage, (-221.34, True)))
    for part in (
        "22.70 -> 9.80 nat (12.90 nat gained)",
        "30 in 1 rollout, 4.2 s",
        "quadrants covered  3 of 4",
        "median 31 ms, longest 92 ms, 2 deadlines missed",
        "-221.3, upright at the end",
    ):
        assert part in text


def test_mountain_car_summary_tells_the_terrain_covered() -> None:
    coverage = Coverage("mountain_car")
    for position in (-0.5, 0.25, 0.0):
        coverage.add(np.array([position, 0.0]))
    name, text = coverage.line()
    assert name == "terrain covered" and "from -0.50 to 0.25" in text and "%" in text


def test_a_failure_says_why() -> None:
    from dataclasses import replace

    failed = replace(FACTS, success=False, message="no state from the plant for 5 s")
    assert "failed: no state from the plant" in summary(failed, Coverage("toy_inner"))[0]
