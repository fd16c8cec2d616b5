"""Quality of service from options, and matched to what publishers offer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rclpy.qos import QoSProfile

# rclpy.qos knows these names; they are repeated here because importing it for --help takes long
_PROFILES = (
    "unknown",
    "default",
    "system_default",
    "sensor_data",
    "services_default",
    "parameters",
    "parameter_events",
    "action_status_default",
    "best_available",
)
_HISTORY = ("system_default", "keep_last", "keep_all", "unknown")
_RELIABILITY = ("system_default", "reliable", "best_effort", "unknown", "best_available")
_DURABILITY = ("system_default", "transient_local", "volatile", "unknown", "best_available")


def add_arguments(parser: argparse.ArgumentParser, default_profile: str) -> None:
    parser.add_argument(
        "--qos-profile",
        choices=_PROFILES,
        default=default_profile,
        help=f"quality of service preset profile (default: {default_profile})",
    )
    parser.add_argument("--qos-depth", metavar="N", type=int, help="queue size")
    parser.add_argument("--qos-history", choices=_HISTORY)
    parser.add_argument("--qos-reliability", choices=_RELIABILITY)
    parser.add_argument("--qos-durability", choices=_DURABILITY)


def are_given(args: argparse.Namespace) -> bool:
    options = (args.qos_depth, args.qos_history, args.qos_reliability, args.qos_durability)
    return any(option is not None for option in options)


def from_arguments(args: argparse.Namespace) -> QoSProfile:
    """The preset with what the options say instead."""
    from rclpy.qos import (
        QoSDurabilityPolicy,
        QoSHistoryPolicy,
        QoSPresetProfiles,
        QoSReliabilityPolicy,
    )

    profile = QoSPresetProfiles.get_from_short_key(args.qos_profile)
    if args.qos_history:
        profile.history = QoSHistoryPolicy.get_from_short_key(args.qos_history)
    if args.qos_reliability:
        profile.reliability = QoSReliabilityPolicy.get_from_short_key(args.qos_reliability)
    if args.qos_durability:
        profile.durability = QoSDurabilityPolicy.get_from_short_key(args.qos_durability)
    if args.qos_depth:
        profile.depth = args.qos_depth
    elif profile.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL and profile.depth == 0:
        profile.depth = 1
    return profile


def matching(publishers: list[Any], args: argparse.Namespace) -> QoSProfile:
    """The strongest reliability and durability that all publishers offer, so that nothing is missed."""
    from rclpy.qos import QoSDurabilityPolicy, QoSReliabilityPolicy

    profile = from_arguments(args)
    offers = [info.qos_profile for info in publishers]
    if are_given(args) or not offers:
        return profile
    for name, strong, weak in (
        ("reliability", QoSReliabilityPolicy.RELIABLE, QoSReliabilityPolicy.BEST_EFFORT),
        ("durability", QoSDurabilityPolicy.TRANSIENT_LOCAL, QoSDurabilityPolicy.VOLATILE),
    ):
        count = sum(getattr(offer, name) == strong for offer in offers)
        if 0 < count < len(offers):
            kind = type(strong).__name__
            print(
                f"Some, but not all, publishers are offering {kind}.{strong.name}. Falling back to "
                f"{kind}.{weak.name} as it will connect to all publishers"
            )
        setattr(profile, name, strong if count == len(offers) else weak)
    return profile
