"""The pilot against a scripted port: what it sends for which step, in lockstep and in real time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explore_context.nodes.flight import Decision, Phase, PilotSettings, Situation
from explore_context.nodes.pilot import Pilot
from explore_context.nodes.samples import Array, StateSample
from explore_context.nodes.transition_filter import TransitionFilter
from explore_context.planning.plan import Plan


class Port:
    """Records commands; jobs wait until the test runs them."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, int, list[float]]] = []
        self.claims = self.releases = 0
        self.resets: list[Callable[[str], None]] = []
        self.jobs: list[Callable[[], None]] = []

    def send(self, session_id: str, rollout: int, step: int, command: Array) -> None:
        assert session_id == "a"
        self.sent.append((rollout, step, [float(u) for u in command]))

    def claim(self, session_id: str) -> None:
        assert session_id == "a"
        self.claims += 1

    def release(self, session_id: str) -> None:
        assert session_id == "a"
        self.releases += 1

    def reset(self, done: Callable[[str], None]) -> None:
        self.resets.append(done)

    def submit(self, job: Any, deliver: Any, fail: Any) -> None:
        self.jobs.append(lambda: deliver(job()))

    def work(self) -> None:
        """The planning thread finishes everything that it was given."""
        while self.jobs:
            self.jobs.pop(0)()


class Flight:
    """A pilot whose plan for step k is k, k + 0.1, k + 0.2."""

    def __init__(self, mode: str, *, reset: bool = False) -> None:
        self.port = Port()
        self.failures: list[str] = []
        self.decisions: list[Decision] = []
        self.situations: list[Situation] = []
        settings = PilotSettings("a", mode, period=0.1, action_dim=1, reset=reset)
        self.pilot = Pilot(self.port, settings, self.think, self.decisions.append, self.failures.append)
        self.filter = TransitionFilter()
        self.filter.begin_session("a")
        self.pilot.begin_rollout()

    def think(self, situation: Situation) -> Plan:
        self.situations.append(situation)
        actions = (situation.step + np.array([[0.0], [0.1], [0.2]])).astype(np.float32)
        return Plan(actions, 1.0, 3, 0.0, True)

    def see(self, step: int, rollout: int = 0, applied: float | None = None) -> bool:
        """Whether the transition that this state ends is part of the flight; ``applied``, unless given, is
        what was last sent for it."""
        judgement = self.filter.judge(self.sample(step, rollout, applied))
        counted = judgement.transition is not None and self.pilot.counts(judgement.transition)
        self.pilot.on_state(judgement)
        return counted

    def sample(self, step: int, rollout: int, applied: float | None) -> StateSample:
        commands = [c[0] for r, s, c in self.port.sent if c and (r, s) == (rollout, step - 1)]
        value = applied if applied is not None else commands[-1] if commands else 0.0
        action = np.array([value]) if step else np.empty(0)
        return StateSample("a", rollout, step, np.array([1.0 * step]), action)

    def last(self) -> tuple[int, int, list[float]]:
        rollout, step, command = self.port.sent[-1]
        return rollout, step, [round(u, 3) for u in command]


def test_lockstep_answers_each_state_with_a_plan_from_it() -> None:
    flight = Flight("lockstep")
    for step in range(3):
        assert flight.see(step) == (step > 0)
        flight.port.work()
        assert flight.last() == (0, step, [float(step)])
    assert [s.state[0] for s in flight.situations] == [0, 1, 2]
    assert all(s.under_way is None and s.deadline is None for s in flight.situations)


def test_lockstep_repeats_an_answer_that_was_lost_but_not_one_under_way(monkeypatch: Any) -> None:
    now = 100.0
    monkeypatch.setattr("explore_context.nodes.pilot.time.monotonic", lambda: now)
    flight = Flight("lockstep")
    flight.see(0)
    flight.see(0)
    assert flight.port.sent == []
    flight.port.work()
    flight.see(0)
    assert len(flight.port.sent) == 1
    now += 0.2
    flight.see(0)
    assert flight.port.sent[0] == flight.port.sent[1] and len(flight.situations) == 1


def test_a_rollout_begins_only_after_the_reset() -> None:
    flight = Flight("lockstep", reset=True)
    flight.see(7, rollout=3)
    assert len(flight.port.resets) == 1 and flight.pilot.phase is Phase.RESETTING
    flight.see(8, rollout=3)
    flight.see(0, rollout=4)
    flight.port.work()
    assert flight.last() == (4, 0, [0.0]) and len(flight.port.resets) == 1


def test_a_refused_reset_is_a_failure() -> None:
    flight = Flight("lockstep", reset=True)
    flight.see(0)
    flight.port.resets[0]("no service")
    assert flight.failures == ["no service"]


def test_realtime_first_plan_begins_when_it_is_ready() -> None:
    flight = Flight("realtime")
    assert not any(flight.see(step) for step in range(4))
    assert [command for _, _, command in flight.port.sent] == [[0.0]] * 4
    flight.port.work()
    assert flight.last() == (0, 4, [1.0])  # planned for step 1, begins with its first action at step 4
    assert flight.situations[0].deadline is None and not flight.situations[0].commanded
    assert flight.pilot.missed_deadlines == 0


def test_realtime_plans_for_the_next_step_from_the_action_under_way() -> None:
    flight = Flight("realtime")
    flight.see(0)
    flight.port.work()
    assert not flight.see(1)  # the transition from step 0 had no command
    situation_before = len(flight.situations)
    flight.port.work()
    situation = flight.situations[situation_before]
    assert situation.step == 2 and situation.commanded and situation.deadline is not None
    assert situation.under_way is not None and situation.under_way[0] == 1.0
    assert flight.last() == (0, 2, [2.0])
    assert flight.see(2)


def test_realtime_falls_back_to_the_shifted_plan_and_counts_the_miss() -> None:
    flight = Flight("realtime")
    flight.see(0)
    flight.port.work()
    flight.see(1)  # planning for step 2 begins and takes too long
    assert flight.last() == (0, 2, [1.1])
    flight.see(2)
    assert flight.last() == (0, 3, [1.2])
    flight.see(3)
    assert flight.last() == (0, 4, [0.0])  # the plan is used up
    assert flight.pilot.missed_deadlines == 1  # that of step 3 was never planned for
    flight.port.jobs.pop(0)()
    assert flight.pilot.missed_deadlines == 2
    assert flight.last() == (0, 4, [2.2])  # late as it is, the plan for step 2 knows step 4
    flight.port.work()
    assert flight.last() == (0, 4, [4.0])


def test_a_command_that_reached_the_plant_after_its_tick_is_a_missed_deadline() -> None:
    flight = Flight("realtime")
    flight.see(0)
    flight.port.work()
    flight.see(1)  # step 2 gets 1.1 of the old plan ...
    flight.port.work()  # ... and then 2.0 of the new one, which is on its way when the plant begins step 2
    flight.see(2)
    flight.port.work()
    assert flight.pilot.missed_deadlines == 0
    flight.see(3, applied=1.1)
    assert flight.pilot.missed_deadlines == 1
    flight.see(6, applied=9.0)  # states were lost: nothing was sent for step 5
    assert flight.pilot.missed_deadlines == 1


def test_a_held_action_is_the_one_that_was_applied() -> None:
    flight = Flight("realtime")
    flight.see(0)
    flight.port.work()
    flight.see(1)
    flight.port.work()
    course = flight.pilot._course
    assert course is not None and course.under_way(2) == [2.0]
    assert not course.note_applied(2, np.array([1.1])) and course.under_way(2) == [1.1]


def test_situations_count_the_steps_of_the_flight_with_those_that_were_lost() -> None:
    flight = Flight("realtime")
    for step in (4, 5):  # the first plan begins with step 6
        flight.see(step)
    for step in (6, 9, 10):
        flight.port.work()
        flight.see(step)
    flight.port.work()
    assert [s.flight_step for s in flight.situations] == [0, 1, 4, 5]
    assert [s.step for s in flight.situations] == [5, 7, 10, 11]


def test_repeated_states_are_no_progress_and_planning_is_no_stall(monkeypatch: Any) -> None:
    now = [100.0]
    monkeypatch.setattr("explore_context.nodes.pilot.time.monotonic", lambda: now[0])
    flight = Flight("lockstep", reset=True)

    def repeat(step: int, rollout: int) -> str:
        """Six seconds of the same state."""
        for _ in range(12):
            now[0] += 0.5
            flight.see(step, rollout)
        return flight.pilot.stall(5.0)

    flight.see(0)
    assert "not answered a reset" in repeat(0, 0)
    flight.see(0, rollout=1)
    assert repeat(0, 1) == ""  # it plans
    flight.port.work()
    assert "not answered an action" in repeat(0, 1)
    now[0] += 6.0
    assert "no state from the plant" in flight.pilot.stall(5.0)


def test_a_realtime_plant_that_ignores_a_reset_is_stalled(monkeypatch: Any) -> None:
    now = [100.0]
    monkeypatch.setattr("explore_context.nodes.pilot.time.monotonic", lambda: now[0])
    flight = Flight("realtime", reset=True)
    for step in range(60):
        flight.see(step)
        now[0] += 0.1
    assert "not answered a reset" in flight.pilot.stall(5.0)


def test_a_realtime_plant_that_applies_nothing_is_stalled(monkeypatch: Any) -> None:
    now = [100.0]
    monkeypatch.setattr("explore_context.nodes.pilot.time.monotonic", lambda: now[0])
    flight = Flight("realtime")

    def fly(steps: range, applied: float | None) -> str:
        for step in steps:
            flight.see(step, applied=applied)
            flight.port.work()
            now[0] += 0.1
        return flight.pilot.stall(5.0)

    assert fly(range(70), None) == ""
    assert fly(range(70, 110), 0.0) == ""  # four seconds: it may only be late
    assert fly(range(110, 130), 0.0).startswith("the plant has applied no action for 5 s")
    assert fly(range(130, 132), None) == ""


def test_stopping_ends_with_a_zero_and_gives_up_the_command() -> None:
    for mode, target in (("lockstep", 1), ("realtime", 2)):
        flight = Flight(mode)
        flight.see(0)
        flight.port.work()
        flight.see(1)
        flight.pilot.stop(complete=False)
        assert flight.port.sent[-1] == (0, target, [0.0]) and flight.port.releases == 1
        before = len(flight.port.sent)
        flight.port.work()
        flight.see(2)
        assert len(flight.port.sent) == before


def test_stopping_after_an_answer_sends_the_zero_for_the_step_after_it() -> None:
    """The answered step is over, or will be in a moment: a second command for it would come too late."""
    flight = Flight("lockstep")
    flight.see(0)
    flight.port.work()
    assert flight.port.sent[-1][:2] == (0, 0)
    flight.pilot.stop(complete=False)
    assert flight.port.sent[-1] == (0, 1, [0.0])


def test_stopping_between_two_rollouts_gives_up_the_command_too() -> None:
    flight = Flight("lockstep", reset=True)
    flight.see(0)
    flight.pilot.stop(complete=False)
    assert flight.port.releases == 1  # claimed, but not yet used
    flight.pilot.begin_rollout()
    flight.see(0, rollout=1)
    flight.see(0, rollout=2)
    flight.port.work()
    flight.pilot.begin_rollout()
    flight.pilot.stop(complete=False)
    flight.pilot.stop(complete=False)
    assert flight.port.sent == [(2, 0, [0.0])] and flight.port.releases == 2


def test_a_complete_lockstep_rollout_gets_no_extra_transition() -> None:
    flight = Flight("lockstep")
    flight.see(0)
    flight.pilot.stop(complete=True)
    assert flight.port.sent == [] and flight.port.releases == 1


def test_the_command_is_claimed_first_and_kept_while_nothing_is_sent(monkeypatch: Any) -> None:
    now = [100.0]
    monkeypatch.setattr("explore_context.nodes.pilot.time.monotonic", lambda: now[0])
    flight = Flight("lockstep", reset=True)

    def claims_within_a_second() -> int:
        before = flight.port.claims
        for _ in range(100):
            now[0] += 0.01
            flight.pilot.keep_command()
        return flight.port.claims - before

    assert flight.port.claims == 1
    assert claims_within_a_second() >= 5  # waiting for a state
    flight.see(0)
    assert claims_within_a_second() >= 5  # for the reset
    flight.see(0, rollout=1)
    assert claims_within_a_second() >= 5  # for the plan
    flight.port.work()
    before = flight.port.claims
    flight.pilot.keep_command()
    assert flight.port.claims == before  # an action says it too
    flight.pilot.stop(complete=True)
    assert claims_within_a_second() == 0


def test_somebody_elses_reset_starts_the_course_again() -> None:
    flight = Flight("lockstep")
    flight.see(0)
    flight.port.work()
    flight.see(1)
    flight.see(0, rollout=1)  # the plan for step 1 of the old rollout is void
    flight.port.work()
    assert flight.last() == (1, 0, [0.0])
    assert (0, 1, [1.0]) not in flight.port.sent


def test_a_non_finite_plan_never_leaves() -> None:
    flight = Flight("lockstep")
    flight.pilot._think = lambda situation: Plan(np.full((1, 1), np.nan, np.float32), 0.0, 1, 0.0, True)
    flight.port.submit = lambda job, deliver, fail: _catching(job, fail)  # type: ignore[method-assign]
    flight.see(0)
    assert flight.port.sent == [] and "non-finite" in flight.failures[0]


def _catching(job: Callable[[], Any], fail: Callable[[Exception], None]) -> None:
    try:
        job()
    except Exception as error:
        fail(error)
