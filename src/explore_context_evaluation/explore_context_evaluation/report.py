"""report/index.html: one file, no script, no network, light and dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explore_context_evaluation.drawing.canvas import palette_css
from explore_context_evaluation.tables import claims_table, curves_table, markdown_table
from explore_context_evaluation.verdict import Row

if TYPE_CHECKING:
    from explore_context_evaluation.evaluation import Section

STYLE = Path(__file__).parent / "data" / "report.css"
# The claims that the whole work stands or falls with.
HEADLINES = (
    ("Pendulum: order", ""),
    ("Pendulum: prediction error", "MPC, against"),
    ("Mountain car: order", ""),
    ("Mountain car: prediction error", "MPC, against"),
    ("Pendulum: swing-up", "median return after MPC"),
    ("Pendulum: swing-up", "returns below"),
    ("Pendulum: swing-up", "failures after MPC"),
)


def page(results: dict[str, Any], sections: Sequence[Section]) -> str:
    """The whole page as text."""
    rows = [row for section in sections for row in section.rows]
    body = [
        _head(results),
        _tiles(results["counts"]),
        _navigation(sections),
        "<h2 id='verdict'>Verdict</h2>",
        "<p class='about'>The main claims; every other one stands with its experiment below. Ratio: ours "
        "divided by the paper's. "
        "Verdicts compare means over the same kind of sample as the paper's (unseen systems, random "
        "rollouts), at horizons 1, 5, 10, 15 and 20.</p>",
        _both_tables(headline_rows(rows), groups=True),
        _not_met(rows),
        *(_section(section) for section in sections),
        _about_run(results),
    ]
    title = "Explore the context: evaluation"
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<style>{palette_css()}{STYLE.read_text()}</style></head><body><main>{''.join(body)}</main></body></html>\n"
    )


def summary_table(results: dict[str, Any], rows: Sequence[Row]) -> str:
    """The main claims as Markdown, for README.md."""
    return f"{_scope_sentence(results)}\n\n{markdown_table(headline_rows(rows))}"


def headline_rows(rows: Sequence[Row]) -> list[Row]:
    return [
        row
        for group, claim in HEADLINES
        for row in rows
        if row.group.startswith(group) and row.claim.startswith(claim)
    ]


def _head(results: dict[str, Any]) -> str:
    return (
        "<h1>Explore the context: evaluation</h1>"
        f"<p class='facts'>{escape(_scope_sentence(results))} {escape(results['timings']['date'])}.</p>"
    )


def _scope_sentence(results: dict[str, Any]) -> str:
    s = results["settings"]
    return (
        f"Preset {s['preset']}: {s['systems']} unseen systems, {s['rollouts']} rollouts each, "
        f"{_model_count(results['models'])} per plant; planner of MPC: {s['planner']}, "
        f"of open loop: {s['open_loop_planner']}, of swing-up: {s['swing_up_planner']}, "
        f"of the ablation over transitions and rollouts: {s['budget_planner']} "
        f"({s['budget_systems']} systems). No planner has a deadline here."
    )


def _model_count(models: Sequence[dict[str, Any]]) -> str:
    """How many models each plant really has here, which may be fewer than were asked for."""
    each = sorted(Counter(model["plant"] for model in models if model["monotone"]).values()) or [0]
    if each[0] == each[-1]:
        return f"{each[0]} model{'s' * (each[0] != 1)}"
    return f"{each[0]} to {each[-1]} models"


def _tiles(counted: dict[str, int]) -> str:
    tiles = [
        f"<div class='tile'><b class='{status.replace(' ', '-')}'>{count}</b><span>{status}</span></div>"
        for status, count in counted.items()
    ]
    return f"<div class='tiles'>{''.join(tiles)}</div>"


def _navigation(sections: Sequence[Section]) -> str:
    links = [
        f"<a href='#{s.experiment.name}'>{escape(s.experiment.title.split(':')[0])}: "
        f"{_tail(s.experiment.title)}</a>"
        for s in sections
    ]
    return f"<nav><a href='#verdict'>Verdict</a>{''.join(links)}</nav>"


def _tail(title: str) -> str:
    return escape(title.partition(":")[2].strip())


def _both_tables(rows: Sequence[Row], groups: bool = False) -> str:
    if not groups:
        return curves_table(rows) + claims_table(rows)
    plants = dict.fromkeys(row.group.split(":")[0] for row in rows)
    parts = []
    for plant in plants:
        mine = [row for row in rows if row.group.split(":")[0] == plant]
        parts.append(f"<h3>{escape(plant)}</h3>{curves_table(mine)}{claims_table(mine)}")
    return "".join(parts)


def _not_met(rows: Sequence[Row]) -> str:
    failed = [row for row in rows if row.status == "not met"]
    if not failed:
        return "<p>Every claim that could be checked is met.</p>"
    lines = []
    for row in failed:
        at = "" if row.horizon is None else f", horizon {row.horizon}"
        ratio = "" if row.ratio is None else f", ×{row.ratio:.3g}"
        ours = "–" if row.ours is None else f"{row.ours:.4g}"
        lines.append(
            f"<li>{escape(row.group)}: {escape(row.claim)}{at}: {ours}, wanted {escape(row.rule)} "
            f"{row.paper:.4g}{ratio}</li>"
        )
    head = f"All {len(failed)} claims that are not met"
    return f"<details><summary>{head}</summary><ul>{''.join(lines)}</ul></details>"


def _section(section: Section) -> str:
    experiment = section.experiment
    figures = "".join(
        f"<figure id='{figure.name}'>{figure.svg}<figcaption>{escape(figure.caption)}</figcaption></figure>"
        for figure in section.figures
    )
    timings = "".join(f"<p class='note'>{escape(line)}</p>" for line in _timing_lines(section.timings))
    missing = (
        f"<p class='note'>{escape(section.summary['missing'])}.</p>" if "missing" in section.summary else ""
    )
    return (
        f"<h2 id='{experiment.name}'>{escape(experiment.title)}</h2><p "
        f"class='about'>{escape(experiment.about)}</p>{missing}"
        f"<div class='figures'>{figures}</div>{timings}{_both_tables(section.rows)}"
    )


def _timing_lines(timings: dict[str, Any]) -> list[str]:
    lines = []
    for name, t in timings.items():
        planner = name.removeprefix("seconds_per_plan_")
        lines.append(
            f"One plan ({planner}, one core): median {1e3 * t['median']:.0f} ms, 95 % {1e3 * t['q95']:.0f} "
            f"ms, longest {1e3 * t['max']:.0f} ms."
        )
    return lines


def _about_run(results: dict[str, Any]) -> str:
    heads = ("name", "plant", "hash", "monotone", "recipe", "seed", "step")
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(str(m[h]))}</td>" for h in heads) + "</tr>" for m in results["models"]
    )
    head = "".join(f"<th>{h}</th>" for h in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    made = results["timings"]
    return (
        f"<h2 id='run'>This run</h2><h3>Models</h3><div class='scroll'>{table}</div>"
        f"<p class='note'>{escape(made['machine'])}; {made['seconds'] / 60:.1f} minutes, without what the "
        f"cache already held. "
        f"Repeat it with <code>{escape(results['command'])}</code>; all "
        f"numbers are in "
        "<a href='results.json'>results.json</a>.</p>"
    )
