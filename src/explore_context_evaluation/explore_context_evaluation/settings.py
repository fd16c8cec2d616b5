"""What an evaluation is to do: the presets and everything that the command line may change."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from explore_context.planning import PlannerSettings, load_planner_settings
from explore_context_evaluation.prediction import EVALUATION_SEED


@dataclass(frozen=True)
class EvaluationSettings:
    """Size and planners of an evaluation.

    Attributes
    ----------
    systems, rollouts:  unseen systems per plant and random test rollouts on each.
    models:  at most so many independently trained models per plant (those that exist in models/).
    planner:  search of MPC calibration; ``open_loop_planner``: of the single plan of an open-loop one;
        ``swing_up_planner``: of control, by default the one that the swing-up controller ships with.
    budget_planner, budget_systems:  of the ablation over transitions and rollouts, which is ten times the
        work of all the rest.
    comparison_systems:  (pendulum, mountain car) systems that are calibrated with the paper's planner beside
        the real-time one.
    """

    preset: str
    systems: int
    rollouts: int
    models: int
    planner: str
    budget_systems: int
    comparison_systems: tuple[int, int]
    open_loop_planner: str = "paper"
    swing_up_planner: str = "swing_up"
    budget_planner: str = "realtime"
    seed: int = EVALUATION_SEED

    def __post_init__(self) -> None:
        for name in ("systems", "rollouts", "models"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name}: must be at least 1, got {getattr(self, name)}")
        if self.budget_systems < 0 or min(self.comparison_systems) < 0:
            raise ValueError("--budget-systems and --comparison-systems must not be negative")
        for name in ("planner", "open_loop_planner", "swing_up_planner", "budget_planner"):
            load_planner_settings(getattr(self, name))  # an unknown planner fails here, before any work

    def planner_settings(self, which: str = "planner") -> PlannerSettings:
        """Settings behind one of the planner names of this evaluation."""
        return load_planner_settings(getattr(self, which))

    def comparison(self, plant: str) -> int:
        """Systems for the comparison of planners."""
        return min(self.systems, self.comparison_systems[0 if plant == "pendulum" else 1])


PRESETS = {
    # Under 15 minutes on two cores: the real-time planner wherever a plan is made at every step.
    "quick": EvaluationSettings("quick", 10, 20, 1, "realtime", budget_systems=5, comparison_systems=(2, 0)),
    # The numbers of the paper, and its planner.
    "paper": EvaluationSettings("paper", 50, 20, 3, "paper", budget_systems=50, comparison_systems=(10, 5)),
}


# Settings that follow from others unless they are given.
DEPENDENT = ("budget_systems", "comparison_systems")


def make_settings(preset: str, **changes: object) -> EvaluationSettings:
    """A preset with those ``changes`` that are not None.

    Where the paper's planner does the main work anyway, it is compared on all systems unless told otherwise.
    """
    given = {name: value for name, value in changes.items() if value is not None}
    settings = replace(PRESETS[preset], **given)  # type: ignore[arg-type]
    if "budget_systems" not in given:
        settings = replace(settings, budget_systems=min(settings.budget_systems, settings.systems))
    if "comparison_systems" not in given and settings.planner == "paper":
        settings = replace(settings, comparison_systems=(settings.systems, settings.systems))
    return settings


def command_options(settings: EvaluationSettings) -> str:
    """Options of the command line that give these settings: the preset and what differs from it."""
    names = [field.name for field in fields(settings) if field.name != "preset"]
    plain = _differing(settings, PRESETS[settings.preset], [name for name in names if name not in DEPENDENT])
    usual = make_settings(settings.preset, **plain)
    words = ["--preset", settings.preset]
    for name, value in {**plain, **_differing(settings, usual, DEPENDENT)}.items():
        words += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else (value,))]
    return shlex.join(words)


def _differing(
    settings: EvaluationSettings, other: EvaluationSettings, names: Iterable[str]
) -> dict[str, object]:
    pairs = {name: (getattr(settings, name), getattr(other, name)) for name in names}
    return {name: mine for name, (mine, theirs) in pairs.items() if mine != theirs}
