"""The training loop: endless data in, checkpoints out. Resumable, reproducible, alone or as one of
several processes.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import numpy as np
import torch
from torch import Tensor

from explore_context.plants import get_plant
from explore_context_training.checkpoint import FILE_NAME, Checkpoint, TrainingRecord
from explore_context_training.data import Batch, EndlessData
from explore_context_training.distributed import Processes
from explore_context_training.networks import ContextModel, Normalisation
from explore_context_training.objective import TensorBatch, loss_and_terms
from explore_context_training.optimiser import Optimiser
from explore_context_training.provenance import git_revision, hardware
from explore_context_training.reporting import Reporter
from explore_context_training.settings import StageSettings, TrainingSettings, cosine_at
from explore_context_training.validation import Validation

CPU = torch.device("cpu")


class TrainingFailure(RuntimeError):
    """Training had to stop; the last good checkpoint is kept and named."""


@dataclass(frozen=True)
class Run:
    """One training run: what, with which settings, where to."""

    plant: str
    recipe: str
    settings: TrainingSettings
    seed: int
    folder: Path
    device: torch.device = CPU
    validation_transitions: int = 30
    checkpoint_every: float = 180.0  # seconds
    validate_every: int = 500  # steps

    @property
    def checkpoint_path(self) -> Path:
        return self.folder / FILE_NAME


class Trainer:
    """Owns model, optimiser and data of a run; ``train`` goes from the present step to the last or until
    told to stop.
    """

    def __init__(self, run: Run, processes: Processes, resume: Checkpoint | None = None) -> None:
        self.run, self.processes = run, processes
        for stage in run.settings.stages:
            if stage.batch // 2 % processes.number:  # otherwise a mean of means is not the mean
                raise ValueError(
                    f"{processes.number} processes cannot share a batch of {stage.batch} evenly; "
                    f"it must be a multiple of {2 * processes.number}"
                )
        plant = get_plant(run.plant)
        self.data = EndlessData(plant, run.settings.data, run.seed)
        if resume is not None:
            normalisation = resume.normalisation
        elif run.settings.model.normalise:
            normalisation = self.data.normalisation()
        else:
            normalisation = Normalisation.identity(plant.spec.observation_dim, plant.spec.action_dim)
        torch.manual_seed(run.seed)
        self.model = ContextModel(
            run.settings.model, plant.spec.observation_dim, plant.spec.action_dim, normalisation
        ).to(run.device)
        self.optimiser = Optimiser(self.model, run.settings.optimiser)
        self.step, self._earlier_wall_time = 0, 0.0
        self.last_errors: dict[str, float] = {}
        self._started = time.monotonic()
        if resume is not None:
            self.model.load_state_dict(resume.weights)
            self.optimiser.load_state(resume.optimiser)
            self.step, self._earlier_wall_time = resume.record.step, resume.record.wall_time
            self.last_errors = dict(resume.record.validation)
        self.validation = Validation(plant, run.validation_transitions, run.device)

    def train_step(self) -> dict[str, float]:
        """One update; returns loss, gradient norm and terms. A non-finite loss raises before it touches
        the weights.
        """
        settings = self.run.settings
        index, progress = settings.stage_at(self.step)
        stage = settings.stages[index]
        batch = self.data.batch(self.step, stage, progress, settings.model.belief, self.processes.share)
        tensors = to_tensors(batch, self.run.device)
        points = self._points(stage, batch.actions.shape[1])
        loss, terms = loss_and_terms(self.model, tensors, stage, progress, settings.objective, points)
        value = self.processes.mean(loss.detach())
        self._check_finite("loss", value)
        loss.backward()
        self.processes.average_gradients(self.model.parameters())
        norm = self.optimiser.clip()
        self._check_finite("gradient", float(norm))
        self.optimiser.step(cosine_at(stage.learning_rate, progress))
        self.step += 1
        return {
            "loss": value,
            "gradient_norm": float(norm),
            **{k: float(v.detach()) for k, v in terms.items()},
        }

    def _check_finite(self, what: str, value: float) -> None:
        """Raise before a bad number reaches the weights, and so a checkpoint."""
        if math.isfinite(value):
            return
        path = self.run.checkpoint_path
        kept = f"the last good checkpoint is {path}" if path.exists() else "no checkpoint was written yet"
        raise TrainingFailure(
            f"the {what} of step {self.step} is {value}; {kept}. "
            "Lower the learning rate of that stage or gradient_clip in the recipe and go on with --resume"
        )

    def train(self, reporter: Reporter, minutes: float | None = None) -> bool:
        """Train to the end, or until a signal or the time limit; a checkpoint is left either way. True:
        finished.
        """
        deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
        saved = time.monotonic()
        with _stop_on_signals() as stopped:
            while self.step < self.run.settings.steps:
                figures = self.train_step()
                if self.step % self.run.validate_every == 0 or self.step == self.run.settings.steps:
                    self.last_errors = self.validation.errors(self.model)
                reporter.step(self.step, figures, self.last_errors)
                now = time.monotonic()
                if self.processes.any(bool(stopped) or now > deadline):
                    break
                if now - saved > self.run.checkpoint_every:
                    self.save()
                    saved = now
        self.save()
        return self.step >= self.run.settings.steps

    def save(self) -> None:
        if self.processes.is_first:
            self.checkpoint().save(self.run.checkpoint_path)

    def checkpoint(self) -> Checkpoint:
        run = self.run
        wall_time = self._earlier_wall_time + time.monotonic() - self._started
        record = TrainingRecord(
            run.plant,
            run.recipe,
            run.seed,
            self.step,
            wall_time,
            hardware(run.device),
            git_revision(),
            dict(self.last_errors),
        )
        return Checkpoint(
            record, run.settings, self.model.normalisation, self.model.state_dict(), self.optimiser.state()
        )

    def _points(self, stage: StageSettings, horizon: int) -> Tensor | None:
        if not 0 < stage.single_step_points < horizon:
            return None
        rng = np.random.default_rng([self.run.seed, 2, self.step])
        points = np.sort(rng.choice(horizon, stage.single_step_points, replace=False))
        return torch.from_numpy(points).to(self.run.device)


def smoke(settings: TrainingSettings) -> TrainingSettings:
    """The same run in seconds: few steps, small batches, little data."""
    stages = tuple(
        replace(stage, steps=6, batch=min(stage.batch, 32), chunk=(min(first, 12), min(last, 12)))
        for stage in settings.stages
        for first, last in [stage.chunk]
    )
    data = replace(settings.data, pairs=200, blocks=2, refresh_every=5)
    return replace(settings, stages=stages, data=data)


def to_tensors(batch: Batch, device: torch.device) -> TensorBatch:
    """The arrays of a batch on the training device."""
    context = batch.context
    arrays = (context.state, context.action, context.following)
    return TensorBatch(
        torch.from_numpy(batch.states).to(device),
        torch.from_numpy(batch.actions).to(device),
        tuple(torch.from_numpy(a).to(device) for a in arrays),
        torch.from_numpy(batch.split).to(device),
        torch.from_numpy(batch.noise).to(device),
    )


@contextmanager
def _stop_on_signals() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying in the middle of a step."""
    received: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    previous = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
