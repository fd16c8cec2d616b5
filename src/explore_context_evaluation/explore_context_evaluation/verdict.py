"""The verdict: every claim with our number, the paper's, their ratio, and whether it is met.

Nothing is left out for looking bad: what is missed says by how much, what could not be checked says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Status = Literal["met", "not met", "no model", "not run", "for reference"]
STATUSES: tuple[Status, ...] = ("met", "not met", "no model", "not run", "for reference")

CHECKED_HORIZONS = (1, 5, 10, 15, 20)
ORDERED_HORIZONS = range(1, 21)
FEWEST_SYSTEMS = 10


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    group, claim:  headline and sentence; ``horizon``: prediction horizon of a curve's row, which the report
        shows as a column.
    ours, paper:  our number and the paper's (or our own bar, as the group says); ``rule``: how the two must
        stand.
    ratio:  ours / paper, where both are prediction errors.
    note:  by how much it is missed, or what the number is.
    """

    group: str
    claim: str
    status: Status
    ours: float | None = None
    paper: float | None = None
    ratio: float | None = None
    rule: str = "<="
    horizon: int | None = None
    note: str = ""


def compare(
    group: str,
    claim: str,
    ours: float,
    bar: float,
    rule: str = "<=",
    *,
    horizon: int | None = None,
    note: str = "",
    errors: bool = False,
) -> Row:
    """Met if ``ours rule bar``; what is not finite never meets anything. ``errors``: give the ratio."""
    if rule not in ("<=", ">=", "<", ">"):
        raise ValueError(f"unknown rule {rule!r}")
    if not math.isfinite(ours):
        return Row(
            group,
            claim,
            "not met",
            None,
            bar,
            None,
            rule,
            horizon,
            "; ".join(filter(None, ["ours is not finite", note])),
        )
    met = {"<=": ours <= bar, ">=": ours >= bar, "<": ours < bar, ">": ours > bar}[rule]
    ratio = ours / bar if errors and ours > 0 and bar > 0 else None
    return Row(group, claim, "met" if met else "not met", ours, bar, _short(ratio), rule, horizon, note)


def curve_rows(group: str, claim: str, ours: Sequence[float], paper: Sequence[float]) -> list[Row]:
    """One row for each checked horizon of an error curve (index 0 is horizon 1)."""
    return [
        compare(group, claim, ours[h - 1], paper[h - 1], horizon=h, errors=True) for h in CHECKED_HORIZONS
    ]


def judged(rows: Sequence[Row], systems: int) -> list[Row]:
    """A side experiment's rows say on how many systems they rest; few systems are no verdict: the badly
    explored ones, which make the mean error, are one in seven.
    """
    note = f"{systems} systems"
    few = systems < FEWEST_SYSTEMS
    return [
        replace(
            row,
            status="for reference" if few else row.status,
            note="; ".join(filter(None, [row.note, f"{note}, too few for a verdict" if few else note])),
        )
        for row in rows
    ]


def ordering_row(group: str, curves: Mapping[str, Sequence[float]]) -> Row:
    """MPC <= open loop <= random at each of the horizons 1 to 20; ``ours`` is the number of horizons at which
    it holds.
    """
    mpc, open_loop, random = (curves[name] for name in ("mpc", "open_loop", "random"))
    broken = [h for h in ORDERED_HORIZONS if not mpc[h - 1] <= open_loop[h - 1] <= random[h - 1]]
    note = ""
    if broken:
        worst = max(max(mpc[h - 1] / open_loop[h - 1], open_loop[h - 1] / random[h - 1]) for h in broken)
        note = f"broken at horizon {_enumerate(broken)}, by a factor of {worst:.3g} at most"
    total = len(ORDERED_HORIZONS)
    return Row(
        group,
        "MPC ≤ open loop ≤ random: at how many of the horizons 1 to 20",
        "not met" if broken else "met",
        total - len(broken),
        total,
        rule=">=",
        note=note,
    )


def missing_row(group: str, claim: str, reason: str, status: Status = "no model") -> Row:
    """A claim that could not be checked, and why."""
    return Row(group, claim, status, note=reason)


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """How many rows have which status; statuses that do not occur are left out."""
    found = [row.status for row in rows]
    return {status: found.count(status) for status in STATUSES if status in found}


def as_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _enumerate(horizons: Sequence[int]) -> str:
    """1, 2, 3, 7 -> "1-3, 7"."""
    runs: list[list[int]] = []
    for h in horizons:
        if runs and h == runs[-1][-1] + 1:
            runs[-1].append(h)
        else:
            runs.append([h])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
