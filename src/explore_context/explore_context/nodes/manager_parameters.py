"""Parameters of the lifecycle manager."""

from __future__ import annotations

from dataclasses import dataclass

from explore_context.nodes.parameters import parameter


@dataclass(frozen=True)
class ManagerParameters:
    """Goal fields left at their defaults are the calibrator's own parameters."""

    nodes: tuple[str, ...] = parameter(("calibrator",), "Lifecycle nodes, in order.", read_only=True)
    calibrate: bool = parameter(
        False, "Send a goal to the calibrator once all nodes are active.", read_only=True
    )
    spectators: tuple[str, ...] = parameter(
        (), "Nodes that must have said on <name>/ready that they hear all before it starts.", read_only=True
    )
    wait_for_return: bool = parameter(False, "Wait for the return of the swing-up.", read_only=True)
    timeout: float = parameter(
        30.0,
        "Seconds to wait for a node, a transition or the action server.",
        low=0.1,
        high=3600.0,
        read_only=True,
    )
    return_timeout: float = parameter(
        300.0,
        "Seconds to wait for the swing-up after the calibration.",
        low=0.1,
        high=36000.0,
        read_only=True,
    )
