"""Tables of the verdict as HTML and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from explore_context_evaluation.verdict import CHECKED_HORIZONS, Row

RULES = {"<=": "≤ ", ">=": "≥ ", "<": "< ", ">": "> ", "": ""}
SIGNS = {
    "met": "✓ met",
    "not met": "✗ not met",
    "no model": "– no model",
    "not run": "– not run",
    "for reference": "· for reference",
}


def number(value: float | None) -> str:
    """Three to four significant digits; whole numbers as they are."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"


def by_curve(rows: Iterable[Row]) -> dict[tuple[str, str], dict[int, Row]]:
    """Rows with a horizon, as {(group, claim): {horizon: row}}."""
    curves: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        if row.horizon is not None:
            curves.setdefault((row.group, row.claim), {})[row.horizon] = row
    return curves


def claims_table(rows: Sequence[Row], groups: bool = False) -> str:
    """Claims with a single number; with ``groups`` the group stands before the claim."""
    single = [row for row in rows if row.horizon is None]
    if not single:
        return ""
    lines = [
        "<div class='scroll'><table><thead><tr><th>claim</th><th class='n'>ours</th><th class='n'>paper's, "
        "or bar</th>"
        "<th class='n'>ratio</th><th>verdict</th></tr></thead><tbody>"
    ]
    for row in single:
        claim = escape(f"{row.group}: {row.claim}" if groups else row.claim)
        note = f"<small>{escape(row.note)}</small>" if row.note else ""
        bar = "–" if row.paper is None else f"{escape(RULES[row.rule])}{number(row.paper)}"
        lines.append(
            f"<tr><td>{claim}{note}</td><td class='n'>{number(row.ours)}</td><td class='n'>{bar}</td>"
            f"<td class='n'>{_ratio(row)}</td>{_status_cell(row)}</tr>"
        )
    return "".join(lines) + "</tbody></table></div>"


def curves_table(rows: Sequence[Row]) -> str:
    """Error curves: one line each, one column per horizon, ours over the paper's."""
    curves = by_curve(rows)
    if not curves:
        return ""
    head = "".join(f"<th class='n'>horizon {h}</th>" for h in CHECKED_HORIZONS)
    lines = [
        f"<div class='scroll'><table><thead><tr><th>curve (ours over the paper's, "
        f"ratio)</th>{head}<th>verdict</th></tr></thead><tbody>"
    ]
    for (_, claim), cells in curves.items():
        columns = "".join(_curve_cell(cells[h]) for h in CHECKED_HORIZONS)
        lines.append(f"<tr><td>{escape(claim)}</td>{columns}{_curve_status(list(cells.values()))}</tr>")
    return "".join(lines) + "</tbody></table></div>"


def markdown_table(rows: Sequence[Row]) -> str:
    """Curves and single claims for a README."""
    heads = [f"horizon {h}" for h in CHECKED_HORIZONS]
    lines = [
        f"| mean squared error, ours / paper's | {' | '.join(heads)} | met |",
        "|---" * (len(heads) + 2) + "|",
    ]
    for (group, claim), cells in by_curve(rows).items():
        values = [f"{number(cells[h].ours)} / {number(cells[h].paper)}" for h in CHECKED_HORIZONS]
        met = sum(cell.status == "met" for cell in cells.values())
        lines.append(f"| {group.split(':')[0]}: {claim} | {' | '.join(values)} | {met} of {len(cells)} |")
    single = [row for row in rows if row.horizon is None]
    if single:
        lines += ["", "| claim | ours | paper's, or bar | verdict |", "|---|---|---|---|"]
        for row in single:
            bar = "–" if row.paper is None else f"{RULES[row.rule]}{number(row.paper)}"
            note = f" ({row.note})" if row.note else ""
            lines.append(f"| {row.group}: {row.claim}{note} | {number(row.ours)} | {bar} | {row.status} |")
    return "\n".join(lines) + "\n"


def _status_cell(row: Row) -> str:
    return f"<td class='s {row.status.replace(' ', '-')}'>{SIGNS[row.status]}</td>"


def _curve_cell(row: Row) -> str:
    status = row.status.replace(" ", "-")
    ours = f"<span class='{status}'>{number(row.ours)}</span>"
    return f"<td class='n'>{ours}<small>{number(row.paper)} · {_ratio(row)}</small></td>"


def _curve_status(cells: Sequence[Row]) -> str:
    met = sum(cell.status == "met" for cell in cells)
    status = "met" if met == len(cells) else "not-met"
    return f"<td class='s {status}'>{'✓' if met == len(cells) else '✗'} {met} of {len(cells)}</td>"


def _ratio(row: Row) -> str:
    return "–" if row.ratio is None else f"×{row.ratio:.3g}"
