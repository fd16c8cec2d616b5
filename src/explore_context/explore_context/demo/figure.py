"""The figure that a demonstration leaves: angle, torque, entropy and belief."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from explore_context.demo.story import Moment, Story

_PERIOD = 0.1  # seconds per step of the pendulum


def save_figure(story: Story, path: Path) -> None:
    """Write a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    calibration = story.rollout(story.calibration_rollout)
    swing_up = story.rollout(story.swing_up_rollout)
    figure, axes = pyplot.subplots(2, 2, figsize=(11, 7), layout="constrained")
    _draw_angle(axes[0, 0], calibration, swing_up)
    _draw_torque(axes[1, 0], calibration, swing_up)
    _draw_entropy(axes[0, 1], story)
    _draw_belief(axes[1, 1], story)
    title = "Calibration of an unknown pendulum"
    if story.total is not None:
        title += f", then swing-up with return {story.total:.1f}"
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _times(moments: list[Moment], start: float) -> np.ndarray:
    return start + _PERIOD * np.array([moment.step for moment in moments])


def _start(calibration: list[Moment]) -> float:
    """Time at which the swing-up is drawn, a little after the calibration."""
    return _PERIOD * (calibration[-1].step + 3) if calibration else 0.0


def angle_curve(moments: list[Moment], start: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and angles, with a gap where the wrapped angle jumps, so that no line is drawn there."""
    times, angles = _times(moments, start), np.array([moment.angle for moment in moments])
    jumps = np.flatnonzero(np.abs(np.diff(angles)) > np.pi) + 1
    return np.insert(times, jumps, np.nan), np.insert(angles, jumps, np.nan)


def _draw_angle(axis, calibration: list[Moment], swing_up: list[Moment]) -> None:  # type: ignore[no-untyped-def]
    for moments, start, label in (
        (calibration, 0.0, "calibration"),
        (swing_up, _start(calibration), "swing-up"),
    ):
        if moments:
            axis.plot(*angle_curve(moments, start), ".-", label=label)
    for border in (-np.pi / 2, 0.0, np.pi / 2):
        axis.axhline(border, color="0.8", linewidth=0.8, zorder=0)
    axis.set(ylabel="angle [rad], 0 is upright", ylim=(-np.pi, np.pi), title="Angle and quadrants")
    if calibration or swing_up:
        axis.legend(loc="best")


def _draw_torque(axis, calibration: list[Moment], swing_up: list[Moment]) -> None:  # type: ignore[no-untyped-def]
    for moments, start in ((calibration, 0.0), (swing_up, _start(calibration))):
        if len(moments) > 1:
            # The torque that led to a state was applied during the step before it.
            axis.step(_times(moments[:-1], start), [m.torque for m in moments[1:]], where="post")
    axis.set(xlabel="time [s]", ylabel="torque [N m]", ylim=(-2.2, 2.2), title="Actions")


def _draw_entropy(axis, story: Story) -> None:  # type: ignore[no-untyped-def]
    axis.plot(
        [k.transitions for k in story.knowledge], [k.entropy for k in story.knowledge], ".-", color="C2"
    )
    axis.set(xlabel="transitions", ylabel="entropy [nat]", title="Entropy of the context belief")


def _draw_belief(axis, story: Story) -> None:  # type: ignore[no-untyped-def]
    if not story.knowledge:
        return
    for belief, shift, color, label in (
        (story.knowledge[0], -0.15, "0.7", "before"),
        (story.knowledge[-1], 0.15, "C3", "after"),
    ):
        positions = np.arange(len(belief.mean)) + shift
        axis.errorbar(
            positions, belief.mean, yerr=2 * belief.std, fmt="o", color=color, capsize=2, label=label
        )
    axis.set(xlabel="latent dimension", ylabel="mean ± 2 std", title="Context belief")
    axis.legend(loc="best")
