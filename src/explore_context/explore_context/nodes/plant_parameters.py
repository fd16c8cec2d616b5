"""Parameters of the plant node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from explore_context.nodes.command import Mode
from explore_context.nodes.parameters import parameter
from explore_context.nodes.plant_session import SessionSettings, check_size
from explore_context.plants import Plant, get_plant

REALTIME_WATCHDOG = 0.5
# In lockstep nothing moves while a planner thinks, so patience costs nothing; the paper's thinks for seconds.
LOCKSTEP_WATCHDOG = 5.0


@dataclass(frozen=True)
class PlantParameters:
    """Typed and checked; a change of ``hidden_context`` begins a new session."""

    plant: str = parameter("pendulum", "Registered name of the family of systems.", read_only=True)
    mode: str = parameter(
        "lockstep",
        "lockstep: advance when the action of the current step arrives; realtime: advance on a timer.",
        choices=("lockstep", "realtime"),
        read_only=True,
    )
    seed: int = parameter(0, "Seed of hidden context, initial states and noise.", low=0, read_only=True)
    hidden_context: tuple[float, ...] = parameter(
        (), "Hidden parameters of the system; empty: sampled from the seed. A change begins a new session."
    )
    initial_state_mode: str = parameter(
        "calibration",
        "Where rollouts begin unless a reset says otherwise: training or calibration.",
        read_only=True,
    )
    watchdog_time: float = parameter(
        0.0,
        "Seconds of silence after which a commander loses the command and, in realtime, the action is zero; "
        f"0: {REALTIME_WATCHDOG} s in realtime, {LOCKSTEP_WATCHDOG} s in lockstep.",
        low=0.0,
        high=3600.0,
    )
    publish_hidden_context: bool = parameter(
        False, "Show the true hidden context on plant_info (for displays)."
    )
    period: float = parameter(
        0.0, "Seconds between two steps in realtime; 0: the plant's dt.", low=0.0, high=60.0, read_only=True
    )
    state_republish_period: float = parameter(
        0.2,
        "Seconds after which lockstep repeats an unanswered state, same step, for late joiners; 0: never.",
        low=0.0,
        high=60.0,
        read_only=True,
    )

    def session_settings(self, plant: Plant) -> SessionSettings:
        """With the automatic values filled in."""
        automatic = REALTIME_WATCHDOG if self.mode == "realtime" else LOCKSTEP_WATCHDOG
        return SessionSettings(
            mode=cast(Mode, self.mode),
            period=self.period or plant.spec.dt,
            watchdog_time=self.watchdog_time or automatic,
            seed=self.seed,
            hidden_context=self.hidden_context,
            initial_state_mode=self.initial_state_mode,
        )


def validate(parameters: PlantParameters) -> None:
    """What only the plant itself can tell; raises ValueError with the remedy."""
    plant = get_plant(parameters.plant)
    if parameters.hidden_context:
        try:
            check_size("it", parameters.hidden_context)
            plant.check_context(np.array([parameters.hidden_context]))
        except ValueError as error:
            names = ", ".join(plant.spec.context_names)
            raise ValueError(
                f"parameter 'hidden_context': {error}; {parameters.plant} has {names}"
            ) from error
    if parameters.initial_state_mode not in plant.spec.initial_state_modes:
        modes = ", ".join(plant.spec.initial_state_modes)
        raise ValueError(
            f"parameter 'initial_state_mode' is {parameters.initial_state_mode!r}; choose one of {modes}"
        )
    settings = parameters.session_settings(plant)
    if settings.mode == "realtime" and settings.watchdog_time < 2 * settings.period:
        raise ValueError(
            f"parameter 'watchdog_time' is {settings.watchdog_time} s; realtime needs two periods, of "
            f"{settings.period} s"
        )
