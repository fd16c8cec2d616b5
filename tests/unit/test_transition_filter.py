"""Only consecutive steps of one rollout of one session form transitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explore_context.nodes.samples import StateSample
from explore_context.nodes.transition_filter import TransitionFilter, Verdict


def sample(step: int, rollout: int = 0, session: str = "a") -> StateSample:
    action = np.array([float(step)]) if step else np.empty(0)
    return StateSample(session, rollout, step, np.array([100.0 * rollout + step]), action, -float(step))


def filter_of(*samples: StateSample) -> TransitionFilter:
    judge = TransitionFilter()
    judge.begin_session("a")
    for each in samples:
        judge.judge(each)
    return judge


def test_consecutive_steps_form_a_transition_with_the_applied_action() -> None:
    judgement = filter_of(sample(4)).judge(sample(5))
    transition = judgement.transition
    assert judgement.verdict is Verdict.CONSECUTIVE and judgement.fresh and transition is not None
    assert (transition.step, transition.state[0], transition.action[0], transition.following[0]) == (
        4,
        4,
        5,
        5,
    )
    assert transition.reward == -5


def test_everything_else_forms_none() -> None:
    before = (sample(3), sample(4))
    expected = {
        Verdict.DUPLICATE: sample(4),
        Verdict.GAP: sample(6),
        Verdict.OUT_OF_ORDER: sample(2),
        Verdict.FIRST: sample(5, rollout=1),
        Verdict.FOREIGN_SESSION: sample(5, session="b"),
    }
    for verdict, following in expected.items():
        judgement = filter_of(*before).judge(following)
        assert judgement.verdict is verdict and judgement.transition is None


def test_an_old_rollout_is_out_of_order_even_with_a_later_step() -> None:
    assert filter_of(sample(0, rollout=2)).judge(sample(7, rollout=1)).verdict is Verdict.OUT_OF_ORDER


def test_a_new_session_forgets_the_last_state() -> None:
    judge = filter_of(sample(3))
    judge.begin_session("b")
    assert judge.judge(sample(4)).verdict is Verdict.FOREIGN_SESSION
    assert judge.judge(sample(4, session="b")).verdict is Verdict.FIRST


@given(st.permutations([*range(12), *range(4)]), st.lists(st.booleans(), min_size=16, max_size=16))
def test_no_disorder_ever_makes_a_false_transition(steps: list[int], kept: list[bool]) -> None:
    judge = filter_of()
    for step, keep in zip(steps, kept, strict=True):
        transition = judge.judge(sample(step)).transition if keep else None
        if transition is not None:
            assert transition.following[0] == transition.state[0] + 1 == transition.action[0]
