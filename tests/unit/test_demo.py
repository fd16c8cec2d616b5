"""The demonstration's memory, its picture in the terminal and its figure."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from explore_context.demo.figure import angle_curve, save_figure
from explore_context.demo.story import Knowledge, Story
from explore_context.demo.view import View, fact_lines, pendulum_picture, sparkline, torque_bar


def story() -> Story:
    told = Story()
    for rollout, steps in ((0, 1), (1, 30), (2, 50)):
        for step in range(steps):
            angle = np.pi - 0.3 * step
            action = np.array([1.5]) if step else np.empty(0)
            told.add_state(rollout, step, np.array([np.cos(angle), np.sin(angle), -3.0]), action)
    for transitions in range(31):
        knowledge = Knowledge(transitions, 22.0 - 0.4 * transitions, 3.0, np.zeros(16), np.ones(16))
        told.add_belief(knowledge, calibrated=transitions == 30)
    return told


def test_repeated_and_late_states_are_not_told_twice() -> None:
    told = story()
    number = len(told.moments)
    assert not told.add_state(2, 49, np.array([1.0, 0.0, 0.0]), np.zeros(1))
    assert not told.add_state(1, 99, np.array([1.0, 0.0, 0.0]), np.zeros(1))
    assert len(told.moments) == number and told.quadrants() == {0, 1, 2, 3} and told.calibrated


def test_the_picture_shows_where_the_bob_is() -> None:
    assert "●" in pendulum_picture(0.0)[0] and "●" in pendulum_picture(np.pi)[-1]
    left = pendulum_picture(np.pi / 2)
    assert any(row.index("●") == 1 for row in left if "●" in row)
    assert len({len(row) for row in left}) == 1


def test_bars_stay_within_their_width() -> None:
    assert {len(torque_bar(torque)) for torque in (-2.0, -0.3, 0.0, 1.0, 2.0)} == {len(torque_bar(0.0))}
    assert sparkline([3.0, 3.0]) == "▁▁" and sparkline([0.0, 7.0]) == "▁█"
    assert len(sparkline(list(np.linspace(0, 1, 200)))) == 44
    assert len(fact_lines(story())) == len(pendulum_picture(0.0))


def test_without_a_terminal_only_some_lines_are_printed() -> None:
    told, stream = story(), io.StringIO()
    view = View(stream)
    for _ in range(3):
        view.draw(told)
    assert stream.getvalue() == "" and told.moments[-1].step == 49
    told.add_state(2, 50, np.array([1.0, 0.0, 0.0]), np.zeros(1))
    told.total = -221.0
    for _ in range(3):
        view.draw(told)
    view.close()
    assert stream.getvalue().count("\n") == 1 and "return -221.0, balancing" in stream.getvalue()


def test_on_a_terminal_every_frame_overwrites_the_last() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    view = View(stream)
    view.draw(story())
    view.draw(story())
    view.close()
    assert stream.getvalue().count("\x1b[13A") == 1 and stream.getvalue().endswith("\x1b[?25h")


def test_the_figure_is_written_even_of_half_a_story(tmp_path: Path) -> None:
    for name, told in (("whole", story()), ("nothing", Story())):
        path = tmp_path / "results" / f"{name}.png"
        save_figure(told, path)
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_angle_is_not_drawn_through_a_wrap() -> None:
    times, angles = angle_curve(story().rollout(2), 0.0)
    assert len(times) == len(angles) > 50 and np.isnan(angles).any()
    assert np.nanmax(np.abs(np.diff(angles))) < np.pi
