"""Planner settings, read from ``config/planners/<name>.yaml``. Unknown keys and impossible values are refused
by name.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


class PlannerSettingsError(ValueError):
    """A planner's settings are wrong; the message names file and field."""


@dataclass(frozen=True)
class PaperPlannerSettings:
    """The paper's cross-entropy method; defaults are the paper's numbers."""

    iterations: int = 10
    candidates: int = 1000
    elites: int = 100
    samples: int = 20  # context samples of the expected information gain

    def __post_init__(self) -> None:
        _check_positive(self, "iterations", "candidates", "elites", "samples")
        if self.elites > self.candidates:
            raise PlannerSettingsError(
                f"elites: {self.elites} are more than the {self.candidates} candidates"
            )


@dataclass(frozen=True)
class RealtimePlannerSettings:
    """The real-time planner: few, well-chosen candidates instead of many.

    Standard deviations are in units of half the action range.

    Attributes
    ----------
    iterations, candidates, decay:  iteration i draws candidates * decay^i sequences.
    first_iterations, first_candidates:  the same for the first plan of a rollout, which has no warm start.
    kept:  best sequences that compete again in the next iteration and, shifted, in the next plan.
    parents:  the best of these, around which later iterations draw.
    explore:  share of the first population drawn from the whole range instead of around the shifted plan.
    primitives:  hand-written sequences (constant, bang-bang, sine) in it; the first plan tries them all.
    suggestions:  sequences of the objective's own (swings under the belief) in it, at most.
    stretches:  share of the candidates around a parent that differ from it in one stretch, set to a bound.
    longest_stretch:  in steps.
    smoothness:  correlation of the noise from step to step.
    initial_std:  of exploring candidates; above 1 most actions lie on the bounds, where informative ones are.
    warm_std, refine_std:  around the shifted plan; around parents, falling by a third per iteration.
    samples:  context samples during the search.
    finalists, finalist_samples:  the best candidates are compared under more context samples (0: not).
    ways, way_samples:  ways to act (``ways.py``) that are imagined after each first action at a bound, and
        for how many of these samples (0: none).
    way_weight:  the gain of the best way counts so often against that of the best sequence: above 1, they
        are preferred although their torques are coarse, below 1 only a large advantage counts.
    """

    iterations: int = 8
    candidates: int = 22
    decay: float = 0.9
    first_iterations: int = 3
    first_candidates: int = 40
    kept: int = 4
    parents: int = 2
    explore: float = 0.5
    primitives: int = 6
    suggestions: int = 7
    stretches: float = 0.8
    longest_stretch: int = 4
    smoothness: float = 0.7
    initial_std: float = 2.5
    warm_std: float = 0.5
    refine_std: float = 0.25
    samples: int = 6
    finalists: int = 4
    finalist_samples: int = 32
    ways: int = 20
    way_samples: int = 16
    way_weight: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(
            self,
            *("iterations", "candidates", "first_iterations", "first_candidates"),
            *("kept", "parents", "longest_stretch", "samples", "finalists", "way_samples"),
        )
        for name in ("decay", "initial_std", "warm_std", "refine_std", "way_weight"):
            if not getattr(self, name) > 0.0:
                raise PlannerSettingsError(f"{name}: {getattr(self, name)} must be positive")
        for name in ("explore", "stretches"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise PlannerSettingsError(f"{name}: {getattr(self, name)} must lie in [0, 1]")
        if not 0.0 <= self.smoothness < 1.0:
            raise PlannerSettingsError(f"smoothness: {self.smoothness} must lie in [0, 1)")
        for name in ("primitives", "suggestions", "finalist_samples", "ways"):
            if getattr(self, name) < 0:
                raise PlannerSettingsError(f"{name}: {getattr(self, name)} must not be negative")


PlannerSettings = PaperPlannerSettings | RealtimePlannerSettings
_KINDS: dict[str, type[PaperPlannerSettings] | type[RealtimePlannerSettings]] = {
    "paper": PaperPlannerSettings,
    "realtime": RealtimePlannerSettings,
}


def load_planner_settings(name_or_path: str | Path) -> PlannerSettings:
    """Settings of ``paper``, ``realtime`` or of a YAML file with the key ``planner`` (which kind) and any
    fields of that kind.
    """
    path = _find(name_or_path)
    try:
        data = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise PlannerSettingsError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(data, dict) or data.get("planner") not in _KINDS:
        raise PlannerSettingsError(f"{path}: the key 'planner' must be one of {', '.join(_KINDS)}")
    kind = _KINDS[data.pop("planner")]
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(data) - set(hints))
    if unknown:
        raise PlannerSettingsError(f"{path}: unknown key {', '.join(unknown)}; known are {', '.join(hints)}")
    try:
        return kind(**{key: _typed(key, value, hints[key]) for key, value in data.items()})
    except PlannerSettingsError as error:
        raise PlannerSettingsError(f"{path}: {error}") from None


def planner_names() -> list[str]:
    """Names that stand in config/planners."""
    return sorted({path.stem for folder in _folders() for path in folder.glob("*.yaml")})


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise PlannerSettingsError(
                f"{path}: no such file; name a planner ({', '.join(planner_names())}) or a YAML file"
            )
        return path
    for folder in _folders():
        candidate = folder / f"{name_or_path}.yaml"
        if candidate.is_file():
            return candidate
    raise PlannerSettingsError(
        f"unknown planner {str(name_or_path)!r}; "
        f"known are {', '.join(planner_names()) or 'none: config/planners is missing'}"
    )


def _folders() -> list[Path]:
    """Where config/planners may stand: beside the source package or in the installed share folder."""
    roots = [Path(__file__).resolve().parents[2]]
    try:
        from ament_index_python.packages import get_package_share_directory

        roots.append(Path(get_package_share_directory("explore_context")))
    except (ImportError, LookupError):
        pass
    return [folder for root in roots if (folder := root / "config" / "planners").is_dir()]


def _typed(key: str, value: Any, kind: Any) -> Any:
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise PlannerSettingsError(f"{key}: expected {kind.__name__}, got {value!r}")
    return value


def _check_positive(settings: Any, *names: str) -> None:
    assert dataclasses.is_dataclass(settings)
    for name in names:
        if getattr(settings, name) < 1:
            raise PlannerSettingsError(f"{name}: {getattr(settings, name)} must be at least 1")
