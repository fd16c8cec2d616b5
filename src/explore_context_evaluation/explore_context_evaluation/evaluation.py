"""One evaluation from start to end: work, summaries, verdict, and the files of the report."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explore_context_evaluation.cache import Cache
from explore_context_evaluation.drawing.canvas import standalone
from explore_context_evaluation.experiments import Experiment, Figure, Scope, Summary, all_experiments
from explore_context_evaluation.models import describe
from explore_context_evaluation.parallel import run_units
from explore_context_evaluation.paths import workspace
from explore_context_evaluation.report import page, summary_table
from explore_context_evaluation.settings import EvaluationSettings, command_options
from explore_context_evaluation.verdict import Row, as_json, counts

FORMAT = 1
# Figures that also stand alone, for README.md.
STANDALONE = ("pendulum_prediction_error", "mountain_car_prediction_error")


@dataclass(frozen=True)
class Section:
    """What one experiment found."""

    experiment: Experiment
    summary: Summary
    rows: list[Row]
    figures: list[Figure]
    timings: Summary


@dataclass(frozen=True)
class Evaluation:
    scope: Scope
    sections: list[Section]
    made: dict[str, Any]

    @property
    def rows(self) -> list[Row]:
        return [row for section in self.sections for row in section.rows]

    def results(self) -> dict[str, Any]:
        """Contents of results.json. All but ``timings`` is the same in every run with the same settings,
        models and code.
        """
        settings = dataclasses.asdict(self.scope.settings)
        return _finite(
            {
                "format": FORMAT,
                "settings": settings,
                "command": self._command(),
                "models": describe(self._models()),
                "counts": counts(self.rows),
                "verdict": as_json(self.rows),
                "experiments": {section.experiment.name: section.summary for section in self.sections},
                "timings": {
                    **self.made,
                    **{s.experiment.name: s.timings for s in self.sections if s.timings},
                },
            }
        )

    def write(self, folder: Path) -> None:
        """index.html, results.json, summary.md (for the README) and the main figures as SVG."""
        folder.mkdir(parents=True, exist_ok=True)
        results = self.results()
        (folder / "results.json").write_text(
            json.dumps(results, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
        )
        (folder / "index.html").write_text(page(results, self.sections))
        (folder / "summary.md").write_text(summary_table(results, self.rows))
        for section in self.sections:
            for figure in section.figures:
                if figure.name in STANDALONE:
                    (folder / f"{figure.name}.svg").write_text(standalone(figure.svg) + "\n")

    def _command(self) -> str:
        """What repeats this evaluation, by someone who stands in the checkout."""
        words = ["./ws evaluate", command_options(self.scope.settings)]
        names = [section.experiment.name for section in self.sections]
        if len(names) < len(all_experiments()):
            words += [f"--only {name}" for name in names]
        if self.scope.catalogue.root.resolve() != workspace() / "models":
            words.append(f"--model-folder {shlex.quote(str(self.scope.catalogue.root))}")
        return " ".join(words)

    def _models(self) -> list[Any]:
        """Those that this evaluation could use, the shipped one of a plant first."""
        plants = sorted({model.plant for model in self.scope.catalogue.models})
        return [
            m for plant in plants for monotone in (True, False) for m in self.scope.models(plant, monotone)
        ]


def evaluate(
    scope: Scope,
    experiments: Sequence[Experiment],
    cache: Cache,
    jobs: int | None = None,
    progress: bool = True,
) -> Evaluation:
    """Compute what the cache lacks, then summarise every experiment."""
    started = time.time()
    units = [unit for experiment in experiments for unit in experiment.units(scope)]
    results = run_units(units, cache, jobs, progress)
    sections = []
    for experiment in experiments:
        summary = experiment.summarise(scope, results)
        timings = experiment.timings(scope, results)
        sections.append(
            Section(experiment, summary, experiment.rows(summary), experiment.figures(summary), timings)
        )
    made = {
        "date": time.strftime("%Y-%m-%d", time.localtime(started)),
        "seconds": round(time.time() - started, 1),
        "machine": f"{platform.machine()}, {_processor()}",
    }
    return Evaluation(scope, sections, made)


def redraw(folder: Path, scope_of: Callable[[EvaluationSettings], Scope]) -> Evaluation:
    """The evaluation that left ``results.json`` in ``folder``: its numbers, with the figures, bars and words
    of this version.
    """
    path = folder / "results.json"
    try:
        results = json.loads(path.read_text())
        settings = results["settings"]
        settings["comparison_systems"] = tuple(settings["comparison_systems"])
        scope = scope_of(EvaluationSettings(**settings))
        timings = results["timings"]
        sections = [
            Section(each, summary, each.rows(summary), each.figures(summary), timings.pop(each.name, {}))
            for each in all_experiments()
            if (summary := results["experiments"].get(each.name)) is not None
        ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no results of an evaluation ({error!r}); run ./ws evaluate") from error
    return Evaluation(scope, sections, timings)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def _finite(value: Any) -> Any:
    """JSON knows neither NaN nor infinity."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
