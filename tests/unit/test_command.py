"""Who may command and which action is in force."""

from __future__ import annotations

import numpy as np
import pytest

from explore_context.nodes.command import LOOKAHEAD, CommandAuthority, Mode
from explore_context.nodes.samples import ActionCommand, Kind, RejectedMessage, Rejection

SESSION, PERIOD, WATCHDOG = "s", 0.1, 0.5


def authority(mode: Mode) -> CommandAuthority:
    made = CommandAuthority(mode, np.array([-2.0]), np.array([2.0]), WATCHDOG, PERIOD)
    made.begin_rollout(SESSION, 0)
    return made


def action(step: int, value: float = 1.0, sender: str = "a", session: str = SESSION, rollout: int = 0):
    return ActionCommand(session, rollout, step, np.array([value]), sender)


def release(sender: str = "a") -> ActionCommand:
    return ActionCommand.without_action(Kind.RELEASE, SESSION, sender)


def claim(sender: str = "a", session: str = SESSION) -> ActionCommand:
    return ActionCommand.without_action(Kind.CLAIM, session, sender)


def refused(made: CommandAuthority, offered: ActionCommand, step: int = 0, now: float = 0.0) -> Rejection:
    before = (made.commander, dict(made._waiting), made._held.copy())
    with pytest.raises(RejectedMessage) as error:
        made.offer(offered, step, now)
    assert (made.commander, dict(made._waiting)) == before[:2] and (made._held == before[2]).all()
    return error.value.reason


@pytest.mark.parametrize("mode", ["lockstep", "realtime"])
def test_bad_actions_are_refused_with_their_reason_and_change_nothing(mode: Mode) -> None:
    made = authority(mode)
    first = 0 if mode == "lockstep" else 1
    made.offer(action(first + 7), 7, 0.0)
    cases = {
        Rejection.WRONG_SIZE: ActionCommand(SESSION, 0, first + 7, np.zeros(2), "a"),
        Rejection.NON_FINITE: action(first + 7, np.nan),
        Rejection.FOREIGN_SESSION: action(first + 7, session="other"),
        Rejection.FOREIGN_ROLLOUT: action(first + 7, rollout=1),
        Rejection.MISSING_SENDER: action(first + 7, sender=""),
        Rejection.SECOND_COMMANDER: action(first + 7, sender="b"),
        Rejection.STALE_STEP: action(first + 6),
        Rejection.FUTURE_STEP: action(first + 7 + LOOKAHEAD),
    }
    for reason, offered in cases.items():
        assert refused(made, offered, 7) == reason
    assert refused(made, action(first + 7, -np.inf), 7) == Rejection.NON_FINITE


def test_a_refused_first_message_does_not_take_the_command() -> None:
    made = authority("lockstep")
    refused(made, action(3))
    refused(made, action(0, np.nan))
    assert made.commander == ""


def test_commands_are_clipped() -> None:
    made = authority("lockstep")
    made.offer(action(0, 7.0), 0, 0.0)
    assert made.begin_transition(0, 0.0) == [2.0]


def test_commander_holds_until_silent_for_the_watchdog_time() -> None:
    made = authority("lockstep")
    made.offer(action(0), 0, 10.0)
    assert refused(made, action(0, sender="b"), 0, 10.4) == Rejection.SECOND_COMMANDER
    assert not made.expire(10.4)
    assert made.expire(10.5)
    made.offer(action(0, sender="b"), 0, 10.6)
    assert made.commander == "b"


def test_a_late_message_keeps_the_command_but_does_not_feed_the_watchdog() -> None:
    made = authority("realtime")
    made.offer(action(1), 0, 0.0)
    assert made.begin_transition(1, 0.1) == [1.0]
    for step in range(2, 8):
        now = step * PERIOD
        refused(made, action(step - 1), step - 1, now)
        held = made.begin_transition(step, now)
        assert not made.expire(now)
        assert held == ([1.0] if now + PERIOD <= WATCHDOG else [0.0])
    assert made.commander == "a" and made.watchdog_stops == 1


def test_release_gives_up_the_command_at_once_and_only_by_its_holder() -> None:
    made = authority("realtime")
    made.offer(action(1), 0, 0.0)
    assert refused(made, release("b")) == Rejection.SECOND_COMMANDER
    made.offer(release("a"), 0, 0.0)
    assert made.commander == "" and made.begin_transition(1, 0.1) == [0.0]
    made.offer(release("b"), 0, 0.0)  # nobody commands: nothing to give up, nothing to complain about
    assert made.commander == ""


@pytest.mark.parametrize("mode", ["lockstep", "realtime"])
def test_a_claim_takes_the_command_and_keeps_it_without_any_action(mode: Mode) -> None:
    made = authority(mode)
    assert refused(made, claim(session="other")) == Rejection.FOREIGN_SESSION
    assert refused(made, claim(sender="")) == Rejection.MISSING_SENDER
    made.offer(claim(), 0, 0.0)
    assert made.commander == "a"
    assert refused(made, claim("b")) == refused(made, action(1, sender="b")) == Rejection.SECOND_COMMANDER
    for now in (0.4, 0.8, 1.2):
        made.offer(claim(), 0, now)
        assert not made.expire(now + 0.4)
    assert made.begin_transition(1, 1.3) == [0.0] and made.watchdog_stops == 0
    assert made.expire(1.7)


def test_a_claim_does_not_feed_the_watchdog_of_the_action_in_force() -> None:
    made = authority("realtime")
    made.offer(action(1), 0, 0.0)
    assert made.begin_transition(1, 0.1) == [1.0]
    made.offer(claim(), 1, 0.4)
    assert made.begin_transition(5, 0.5) == [0.0] and made.commander == "a"


def test_reset_forgets_all_actions_and_keeps_the_commander_until_it_is_silent() -> None:
    made = authority("realtime")
    made.offer(action(1), 0, 0.0)
    made.offer(action(2), 0, 0.0)
    assert made.begin_transition(1, 0.1) == [1.0]
    made.begin_rollout(SESSION, 1)
    assert made.begin_transition(1, 0.2) == [0.0] and made.begin_transition(2, 0.3) == [0.0]
    assert refused(made, action(1, sender="b", rollout=1), 0, 0.4) == Rejection.SECOND_COMMANDER
    assert made.expire(WATCHDOG) and made.commander == ""


def test_the_command_can_be_given_up_after_a_reset() -> None:
    made = authority("lockstep")
    made.offer(action(0), 0, 0.0)
    made.begin_rollout(SESSION, 1)
    made.offer(release("a"), 0, 0.1)
    assert made.commander == ""


def test_another_system_has_no_commander() -> None:
    made = authority("realtime")
    made.offer(action(1), 0, 0.0)
    made.begin_rollout("another", 0)
    assert made.commander == "" and made.begin_transition(1, 0.1) == [0.0]


def test_realtime_action_waits_for_its_step_and_is_then_held() -> None:
    made = authority("realtime")
    made.offer(action(2, 0.5), 0, 0.0)
    made.offer(action(1, 1.0), 0, 0.0)
    assert made.begin_transition(1, 0.1) == [1.0]
    made.offer(action(2, 0.7), 1, 0.1)  # a second thought replaces the first
    assert made.begin_transition(2, 0.2) == [0.7]
    assert made.begin_transition(3, 0.3) == [0.7]


def test_realtime_action_is_zero_within_the_watchdog_time_of_the_last_command() -> None:
    made = authority("realtime")
    made.offer(action(1), 0, 0.05)
    for step in range(1, 10):
        begins = step * PERIOD
        in_force_until = begins + PERIOD
        assert (made.begin_transition(step, begins) == [0.0]) == (in_force_until > 0.05 + WATCHDOG)


def test_clock_that_jumps_back_neither_stops_nor_frees_the_commander_for_ever() -> None:
    made = authority("realtime")
    made.offer(action(1), 0, 1000.0)
    assert not made.expire(5.0)
    assert made.begin_transition(1, 5.0) == [1.0]
    assert made.begin_transition(2, 5.45) == [0.0]
    assert made.expire(5.5)
