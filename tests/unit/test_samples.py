"""Numbers at the door: what is finite, and for whom."""

from __future__ import annotations

import numpy as np
import pytest

from explore_context.nodes.samples import RejectedMessage, Rejection, checked_vector


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39, -1e300])
def test_numbers_that_the_model_cannot_hold_are_refused(bad: float) -> None:
    with pytest.raises(RejectedMessage) as error:
        checked_vector("observation", np.array([0.0, bad]), 2)
    assert error.value.reason is Rejection.NON_FINITE


def test_good_numbers_pass_unchanged() -> None:
    values = np.array([1.0 / 3.0, 3e38, 1e-300])
    assert checked_vector("observation", values, 3) is values
    with pytest.raises(RejectedMessage, match="has 3 entries, expected 2"):
        checked_vector("observation", values, 2)
