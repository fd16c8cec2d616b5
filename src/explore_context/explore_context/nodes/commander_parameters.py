"""Parameters of the nodes that command a plant: what calibrator and swing-up controller have in common, and
what each has alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ament_index_python.packages import get_package_share_directory

from explore_context.model.sessions import Provider, SessionSettings
from explore_context.nodes.parameters import parameter

STRUCTURAL = frozenset(
    {
        "model",
        "provider",
        "threads",
        "denormals_as_zero",
        "reset_service",
        "prior_bag",
        "plant_timeout",
        "autostart_calibration",
    }
)
"""Fixed while a node is configured: it was built with them."""

_SEED_DESCRIPTION = "Seed of all random draws; the same seed gives the same run."


@dataclass(frozen=True)
class CommanderParameters:
    """Structural ones can change only while the node is unconfigured; all others hold from the next plan, or
    the next start, on."""

    model: str = parameter(
        "",
        "Folder of the learned model; a bare name is one of the package's models, empty: the one named "
        "after the plant.",
    )
    provider: str = parameter(
        "auto",
        "Where the model runs: cpu, cuda, or auto (cuda where there is one).",
        choices=("cpu", "cuda", "auto"),
    )
    threads: int = parameter(0, "Threads that planning uses; 0: one per core, at most 8.", low=0, high=64)
    denormals_as_zero: bool = parameter(
        True, "Let the processor take denormal numbers as zero: they are slow, and no result needs them."
    )
    planner: str = parameter("realtime", "Planner configuration: paper, realtime or the path of a YAML file.")
    seed: int = parameter(0, _SEED_DESCRIPTION, low=0)
    samples: int = parameter(
        0, "Samples of the belief per plan; 0: the planner's own number.", low=0, high=4096
    )
    state_timeout: float = parameter(
        5.0, "Seconds without a state of the plant after which a run is given up.", low=0.1, high=3600.0
    )
    deadline_margin: float = parameter(
        0.025, "Seconds before the end of a real-time period at which planning must end.", low=0.0, high=60.0
    )
    reset_plant: bool = parameter(True, "Reset the plant to an initial state before each rollout.")
    reset_service: str = parameter("plant/reset", "Service that resets the plant.")
    plant_timeout: float = parameter(
        5.0, "Seconds that configuring waits for a plant on plant_info.", low=0.0, high=60.0
    )


@dataclass(frozen=True)
class CalibratorParameters(CommanderParameters):
    """Defaults of goals that leave the field empty."""

    scheme: str = parameter(
        "",
        "Exploration: random, open_loop or mpc; empty: the paper's for this plant.",
        choices=("", "random", "open_loop", "mpc"),
    )
    transitions: int = parameter(
        0, "Transitions per rollout; 0: the paper's number for this plant.", low=0, high=100000
    )
    horizon: int = parameter(
        0, "Steps that MPC plans ahead, at most; 0: the paper's number for this plant.", low=0, high=100000
    )
    rollouts: int = parameter(1, "Rollouts, each from an initial state.", low=1, high=1000)
    autostart_calibration: bool = parameter(False, "Start a calibration when the node becomes active.")
    prior_bag: str = parameter("", "Recording of the same system whose transitions the belief starts with.")


@dataclass(frozen=True)
class SwingUpParameters(CommanderParameters):
    """``samples`` 0 predicts with the belief's mean, as the paper does."""

    planner: str = parameter("swing_up", "Planner configuration: swing_up, paper or the path of a YAML file.")
    episode: int = parameter(50, "Decisions over which the return is summed.", low=1, high=100000)
    keep_balancing: bool = parameter(True, "Go on balancing after the episode.")


def session_settings(parameters: CommanderParameters) -> SessionSettings:
    """How ONNX Runtime is to run the model. One thread a session: planning shares blocks out by itself."""
    return SessionSettings(
        provider=cast(Provider, parameters.provider),
        denormals_as_zero=parameters.denormals_as_zero,
    )


def structural_change(new: Any, configured: Any) -> str:
    """Name of a structural parameter that differs, '' if there is none."""
    for name in sorted(STRUCTURAL):
        if getattr(new, name, None) != getattr(configured, name, None):
            return name
    return ""


def model_folder(name: str) -> Path:
    """A path as it is; a bare name in the package's models."""
    path = Path(name).expanduser()
    if path.is_absolute() or path.is_dir():
        return path
    return Path(get_package_share_directory("explore_context")) / "models" / name
