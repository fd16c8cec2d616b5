"""What a person sees of a training run: a progress bar, TensorBoard scalars and a learning curve as JSON
lines.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import TracebackType

from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

_LOG_EVERY = 50
_DISPLAY_SMOOTHING = 0.95


class Reporter:
    """Writes to the run's folder; with ``show`` also draws the bar. Only the first process reports."""

    def __init__(
        self,
        folder: Path,
        first_step: int,
        steps: int,
        title: str,
        enabled: bool = True,
        earlier_seconds: float = 0.0,
    ) -> None:
        self._enabled = enabled
        if not enabled:
            return
        folder.mkdir(parents=True, exist_ok=True)
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=first_step)
        self._curve = _continued(folder / "curve.jsonl", first_step).open("a")
        self._bar = tqdm(
            total=steps,
            initial=first_step,
            desc=title,
            unit="step",
            smoothing=0.05,
            mininterval=1.0,
            file=sys.stderr,
        )
        self._smoothed: dict[str, float] = {}
        self._errors: dict[str, float] = {}
        self._started = time.monotonic() - earlier_seconds

    def step(self, step: int, figures: dict[str, float], errors: dict[str, float]) -> None:
        if not self._enabled:
            return
        for name, value in figures.items():
            before = self._smoothed.get(name, value)
            self._smoothed[name] = _DISPLAY_SMOOTHING * before + (1 - _DISPLAY_SMOOTHING) * value
        self._bar.update(step - self._bar.n)
        if step % _LOG_EVERY == 0:
            self._bar.set_postfix_str(self._line(errors), refresh=False)
            for name, value in self._smoothed.items():
                self._writer.add_scalar(f"training/{name}", value, step)
        if errors and errors != self._errors:
            self._errors = dict(errors)
            for name, value in errors.items():
                self._writer.add_scalar(f"validation/{name}", value, step)
            seconds = round(time.monotonic() - self._started, 1)
            self._curve.write(
                json.dumps({"step": step, "seconds": seconds, **self._smoothed, **errors}) + "\n"
            )
            self._curve.flush()

    def _line(self, errors: dict[str, float]) -> str:
        shown = {
            k: self._smoothed[k] for k in ("loss", "multi_step", "single_step", "kl") if k in self._smoothed
        }
        text = " ".join(f"{name} {value:.4g}" for name, value in shown.items())
        if errors:
            floor = f"no inference {errors['mse_1_without_context']:.3g}"
            text += f" | mse {errors['mse_1']:.4g} ({floor}), 10: {errors['mse_10']:.3g}"
        return text

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._enabled:
            self._bar.close()
            self._writer.close()
            self._curve.close()


def _continued(path: Path, first_step: int) -> Path:
    """The curve without what lies after ``first_step``: of an overwritten run, or past its checkpoint."""
    if path.exists():
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if json.loads(line)["step"] <= first_step))
    return path
