"""Typed, validated training settings, read from ``config/training/<plant>.yaml``.

A file holds one *recipe* per name (``cpu``, ``paper``, ``paper_cpu``, ...). Unknown or missing keys are
refused by name.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Range = tuple[float, float]


@dataclass(frozen=True)
class ModelSettings:
    """Architecture. The names in brackets are the paper's."""

    transition: typing.Literal["gru", "residual"]
    latent: int  # gru: embedding dimension [E]; residual: width of the memory beside the state
    hidden: int  # hidden width of the transition model
    embedding: int  # transition embedding [F]
    belief: int  # latent context [B]
    encoder_hidden: tuple[int, ...] = (200,)
    encoder_products: bool = False
    decoder_hidden: int = 200
    layers: int = 1  # residual only: hidden layers
    body: int = 0  # residual only: width of the hidden layers after the first; 0: the same
    modulated: bool = False  # residual only: the context scales the last hidden layer, see networks
    substeps: int = 1  # residual only: applications of the dynamics per transition
    contact: bool = False  # residual only: learn what happens to the state when a part of it hits its bound
    monotone: bool = True
    anchored: bool = False
    constant_variance: bool = False
    variance_floor: float = 1e-4
    normalise: bool = False

    def __post_init__(self) -> None:
        _positive(self, "latent", "hidden", "embedding", "belief", "decoder_hidden", "layers", "substeps")
        if self.body and self.layers == 1:
            raise ValueError("body: there are no layers after the first; give more layers or leave it out")
        _positive(self, "variance_floor")


@dataclass(frozen=True)
class DataSettings:
    """Endless simulated rollout pairs, kept in a buffer of which one block is replaced every
    ``refresh_every`` steps.
    """

    pairs: int = 20_000
    blocks: int = 10
    refresh_every: int = 200
    rollout: int = 100
    independent: int = 0  # transitions from fresh training states per system, a third source of context

    def __post_init__(self) -> None:
        _positive(self, "pairs", "blocks", "refresh_every", "rollout")
        if self.pairs < self.blocks:
            raise ValueError(f"pairs: {self.pairs} do not fill {self.blocks} blocks")


@dataclass(frozen=True)
class StageSettings:
    """One stage of the curriculum. A ``Range`` moves linearly from its first to its second value within
    the stage.
    """

    steps: int
    batch: int
    chunk: Range = (50, 50)
    context: Range = (50, 50)  # largest size of the context set; each size from 0 on is equally likely
    p_context_from_target: Range = (0.0, 0.0)
    p_context_independent: Range = (0.0, 0.0)
    target_window: Range | None = (
        None  # context from the target rollout lies within this many steps of the chunk
    )
    kl_weight: Range = (5.0, 5.0)  # lambda_KL
    sample_belief: bool = True  # False: the belief's mean is used and no KL is charged
    posterior: bool = True  # beta ~ q(. | D u C) as in equation 9; False: beta ~ q(. | C)
    learning_rate: Range = (1e-3, 1e-3)  # moves along a half cosine
    single_step_points: int = (
        0  # steps of the chunk on which single-step and reconstruction are evaluated; 0: all
    )
    squared_error_weight: float = 0.0  # beyond the paper, see objective.scaled_squared_error
    # beta of that term: a sample of q(. | D u C) as in the likelihood, or the mean of q(. | C), as in use
    squared_error_given: typing.Literal["posterior", "context"] = "posterior"

    def __post_init__(self) -> None:
        _positive(self, "steps", "batch", "chunk", "learning_rate")
        if self.batch % 2:
            raise ValueError(f"batch: {self.batch} is odd; context sets are packed two by two")
        for name in ("p_context_from_target", "p_context_independent"):
            if not 0 <= min(getattr(self, name)) <= max(getattr(self, name)) <= 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not a probability")
        for name in ("context", "kl_weight"):
            if min(getattr(self, name)) < 0:
                raise ValueError(f"{name}: {getattr(self, name)} must not be negative")
        if self.squared_error_weight < 0:
            raise ValueError("squared_error_weight: must not be negative")


@dataclass(frozen=True)
class OptimiserSettings:
    """``muon``: orthogonalised momentum for the hidden matrices, Adam for everything else."""

    kind: typing.Literal["adam", "muon"] = "adam"
    muon_factor: float = 3.0  # Muon's learning rate as a multiple of Adam's
    epsilon: float = 1e-4
    gradient_clip: float = 1000.0
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        _positive(self, "muon_factor", "epsilon", "gradient_clip")


@dataclass(frozen=True)
class ObjectiveSettings:
    single_step_reduction: typing.Literal["sum", "mean"] = "sum"
    kl_floor: float = 0.1  # the KL of each dimension is clipped from below
    empty_context_weight: float = 1.0
    reconstruction: bool = True


@dataclass(frozen=True)
class TrainingSettings:
    """All that a run depends on besides plant, seed and device."""

    model: ModelSettings
    data: DataSettings
    optimiser: OptimiserSettings
    objective: ObjectiveSettings
    stages: tuple[StageSettings, ...]

    def __post_init__(self) -> None:
        for index, stage in enumerate(self.stages):
            if max(stage.chunk) > self.data.rollout:
                raise ValueError(f"stages[{index}].chunk: longer than rollouts ({self.data.rollout} steps)")
            if max(stage.p_context_independent) > 0 and not self.data.independent:
                raise ValueError(f"stages[{index}].p_context_independent: needs data.independent transitions")

    @property
    def steps(self) -> int:
        return sum(stage.steps for stage in self.stages)

    def continues(self, other: TrainingSettings, step: int) -> bool:
        """A run with ``other`` settings can go on with these at ``step``: the same but for stages that have
        not begun and, for a run that diverged, learning rates and the bound on the gradient.
        """
        begun = [k for k in range(len(other.stages)) if sum(s.steps for s in other.stages[:k]) < step]
        same_start = all(
            k < len(self.stages)
            and dataclasses.replace(self.stages[k], learning_rate=other.stages[k].learning_rate)
            == other.stages[k]
            for k in begun
        )
        clip = other.optimiser.gradient_clip
        optimiser = dataclasses.replace(self.optimiser, gradient_clip=clip)
        return same_start and dataclasses.replace(self, stages=other.stages, optimiser=optimiser) == other

    def stage_at(self, step: int) -> tuple[int, float]:
        """Index of the stage of a step and the progress within it, 0..1."""
        for index, stage in enumerate(self.stages):
            if step < stage.steps:
                return index, step / stage.steps
            step -= stage.steps
        return len(self.stages) - 1, 1.0


def at(span: Range, progress: float) -> float:
    return span[0] + (span[1] - span[0]) * progress


def cosine_at(span: Range, progress: float) -> float:
    return span[1] + (span[0] - span[1]) * 0.5 * (1.0 + math.cos(math.pi * progress))


def load_settings(path: Path, recipe: str) -> TrainingSettings:
    """Read one recipe; every error names the file, the field and what is allowed."""
    try:
        recipes = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file; every plant needs its training settings there") from None
    except yaml.YAMLError as error:
        raise SettingsError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(recipes, dict) or recipe not in recipes:
        known = ", ".join(recipes) if isinstance(recipes, dict) else "none"
        raise SettingsError(f"{path}: no recipe {recipe!r}; it holds {known}")
    settings: TrainingSettings = settings_from(recipes[recipe], f"{path}: {recipe}")
    return settings


def settings_from(data: Any, where: str = "settings") -> TrainingSettings:
    """Build settings from plain data, as read from YAML or a checkpoint."""
    return typing.cast(TrainingSettings, _build(TrainingSettings, data, where))


def _positive(settings: Any, *names: str) -> None:
    """Raise for the first field that is not positive; of a range, both ends count."""
    for name in names:
        value = getattr(settings, name)
        if min(value if isinstance(value, tuple) else (value,)) <= 0:
            raise ValueError(f"{name}: {value} must be positive")


class SettingsError(ValueError):
    """A settings file is wrong; the message names file and field."""


def _build(kind: Any, data: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _build_dataclass(kind, data, where)
    if origin in (types.UnionType, typing.Union):
        inner = next(a for a in typing.get_args(kind) if a is not types.NoneType)
        return None if data is None else _build(inner, data, where)
    if origin is typing.Literal:
        if data not in typing.get_args(kind):
            raise SettingsError(f"{where}: {data!r} is not one of {', '.join(typing.get_args(kind))}")
        return data
    if origin is tuple:
        return _build_tuple(kind, data, where)
    if kind is float and isinstance(data, int | float) and not isinstance(data, bool) and math.isfinite(data):
        return float(data)
    if kind in (int, bool, str) and type(data) is kind:
        if kind is int and data < 0:
            raise SettingsError(f"{where}: {data} must not be negative")
        return data
    raise SettingsError(f"{where}: expected {getattr(kind, '__name__', kind)}, got {data!r}")


def _build_dataclass(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise SettingsError(f"{where}: expected a mapping, got {data!r}")
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(data) - set(hints))
    if unknown:
        raise SettingsError(f"{where}: unknown key {', '.join(unknown)}; known are {', '.join(hints)}")
    required = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]
    missing = [name for name in required if name not in data]
    if missing:
        raise SettingsError(f"{where}: missing key {', '.join(missing)}")
    values = {name: _build(hints[name], value, f"{where}.{name}") for name, value in data.items()}
    try:
        return kind(**values)
    except SettingsError:
        raise
    except ValueError as error:
        raise SettingsError(f"{where}: {error}") from None


def _build_tuple(kind: Any, data: Any, where: str) -> Any:
    arguments = typing.get_args(kind)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        if not isinstance(data, list) or not data:
            raise SettingsError(f"{where}: expected a list, got {data!r}")
        return tuple(_build(arguments[0], value, f"{where}[{i}]") for i, value in enumerate(data))
    if isinstance(data, int | float) and not isinstance(data, bool):
        data = [data] * len(arguments)  # a constant stands for a range that does not move
    if not isinstance(data, list) or len(data) != len(arguments):
        raise SettingsError(f"{where}: expected a number or a list of {len(arguments)}, got {data!r}")
    return tuple(_build(argument, value, where) for argument, value in zip(arguments, data, strict=True))
