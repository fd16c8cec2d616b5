"""The paper's experiments on the models of this checkout: figures, tables and a verdict."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

from explore_context.model import ModelError
from explore_context_evaluation.cache import Cache, default_folder
from explore_context_evaluation.evaluation import Evaluation, evaluate, redraw
from explore_context_evaluation.experiments import Scope, all_experiments, choose_experiments
from explore_context_evaluation.models import find_models
from explore_context_evaluation.parallel import BACKENDS, UnitError, backend
from explore_context_evaluation.paths import workspace
from explore_context_evaluation.settings import PRESETS, EvaluationSettings, make_settings

CHANGEABLE = (
    "systems",
    "rollouts",
    "models",
    "planner",
    "open_loop_planner",
    "swing_up_planner",
    "budget_planner",
    "budget_systems",
    "seed",
)


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="./ws evaluate", description=__doc__)
    p.add_argument(
        "--preset",
        choices=sorted(PRESETS),
        default="quick",
        help="quick: under 15 minutes on two cores (default); paper: 50 systems x 20 rollouts x 3 models",
    )
    p.add_argument("--systems", type=int, help="unseen systems per plant")
    p.add_argument("--rollouts", type=int, help="random test rollouts per system")
    p.add_argument(
        "--models", type=int, help="at most so many trained models per plant (where models/ has more seeds)"
    )
    p.add_argument("--planner", help="search of MPC calibration: paper, realtime or a YAML file")
    p.add_argument("--open-loop-planner", help="search of open-loop calibration (default: paper)")
    p.add_argument(
        "--swing-up-planner", help="search of swing-up control (default: swing_up, as the controller ships)"
    )
    p.add_argument(
        "--budget-planner", help="search of the ablation over transitions and rollouts (default: realtime)"
    )
    p.add_argument("--budget-systems", type=int, help="systems of that ablation")
    p.add_argument(
        "--comparison-systems",
        type=int,
        nargs=2,
        metavar=("PENDULUM", "CAR"),
        help="systems on which the paper's planner runs beside the real-time one (all with --planner paper)",
    )
    p.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="EXPERIMENT",
        help="only experiments whose name begins so; may be repeated (--list)",
    )
    p.add_argument("--list", action="store_true", help="list the experiments and models, do nothing")
    p.add_argument("--seed", type=int, help="other test systems")
    p.add_argument("--model-folder", type=Path, help="folder of the models (default: models/)")
    p.add_argument("--output", type=Path, help="folder of the report (default: report/)")
    p.add_argument("--cache", type=Path, help=f"folder of finished work (default: {default_folder()})")
    p.add_argument("--fresh", action="store_true", help="compute everything again")
    p.add_argument("--jobs", type=int, help="workers (default: one per core, or all of a cluster)")
    p.add_argument(
        "--backend",
        choices=BACKENDS,
        default="loky",
        help="joblib backend that does the work (docs/evaluation.md)",
    )
    p.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of a running Dask or Ray cluster (default: a local one)",
    )
    p.add_argument(
        "--redraw",
        action="store_true",
        help="compute nothing: write the report again from its results.json, with today's bars and words",
    )
    p.add_argument("--quiet", action="store_true", help="no progress bar")
    return p


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    warnings.showwarning = lambda message, *_args, **_kwargs: print(f"evaluate: {message}", file=sys.stderr)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        return _run(options)
    except (ModelError, ValueError, UnitError, OSError) as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nevaluate: interrupted; the same command goes on where it stopped", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    if options.jobs is not None and options.jobs < 1:
        raise ValueError(f"--jobs: must be at least 1, got {options.jobs}")
    experiments = choose_experiments(options.only)
    catalogue = find_models(options.model_folder or workspace() / "models")
    scope = Scope(settings, catalogue)
    if options.list:
        return _list(scope)
    output = options.output or workspace() / "report"
    if options.redraw:
        evaluation = redraw(output, lambda settings: Scope(settings, catalogue))
        evaluation.write(output)
        _print_verdict(evaluation, output)
        return 0
    cache = Cache(options.cache or default_folder(), options.fresh)
    with backend(options.backend, options.jobs, options.scheduler):
        evaluation = evaluate(scope, experiments, cache, options.jobs, progress=not options.quiet)
    evaluation.write(output)
    _print_verdict(evaluation, output)
    return 0


def read_settings(options: argparse.Namespace) -> EvaluationSettings:
    """The preset with what the command line changes."""
    changes = {name: getattr(options, name) for name in CHANGEABLE}
    comparison = tuple(options.comparison_systems) if options.comparison_systems else None
    return make_settings(options.preset, comparison_systems=comparison, **changes)


def _list(scope: Scope) -> int:
    for experiment in all_experiments():
        print(f"{experiment.name:32} {experiment.title}")
    for model in scope.catalogue.models:
        print(
            f"{model.name:32} {model.plant}, {'' if model.monotone else 'not '}monotone, seed {model.seed}, "
            f"{model.model_hash}"
        )
    return 0


def _print_verdict(evaluation: Evaluation, output: Path) -> None:
    results = evaluation.results()
    for row in evaluation.rows:
        if row.status == "not met":
            at = "" if row.horizon is None else f", horizon {row.horizon}"
            print(
                f"not met: {row.group}: {row.claim}{at}: {_short(row.ours)} (wanted {row.rule} "
                f"{_short(row.paper)})"
            )
    print(", ".join(f"{number} {status}" for status, number in results["counts"].items()))
    print(f"report: {output / 'index.html'}")


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    sys.exit(main())
