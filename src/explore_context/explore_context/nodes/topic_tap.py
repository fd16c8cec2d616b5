"""Listening to topics without decoding: which topics, with which QoS, and the QoS as rosbag2 writes it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

_DEPTH = 1000
_INFINITE = {"sec": 9223372036, "nsec": 854775807}
_ACTION_FEEDBACK = "/_action/feedback"
_ACTION_STATUS = "/_action/status"
_FEEDBACK_MESSAGE = "_FeedbackMessage"
_CDR_HEADER_SIZE = 4
_GOAL_ID_SIZE = 16


def is_wanted(topic: str, namespace: str, extra: Iterable[str]) -> bool:
    """Whether a topic belongs to the run: below the namespace, not hidden, or named explicitly."""
    if topic in extra:
        return True
    if not topic.startswith(namespace.rstrip("/") + "/") or topic == "/parameter_events":
        return False
    hidden = any(part.startswith("_") for part in topic.split("/"))
    return not hidden or topic.endswith((_ACTION_FEEDBACK, _ACTION_STATUS))


@dataclass(frozen=True)
class Track:
    """Where and as what the messages of a topic are recorded."""

    topic: str
    type_name: str
    is_feedback: bool = False

    def data(self, serialized: bytes) -> bytes:
        """The bytes to record; goal ids are as long as two steps of alignment, so nothing else moves."""
        if self.is_feedback:
            return serialized[:_CDR_HEADER_SIZE] + serialized[_CDR_HEADER_SIZE + _GOAL_ID_SIZE :]
        return serialized


def track_of(topic: str, type_name: str) -> Track:
    """A topic is recorded as it is, but an action's feedback without its goal id, on ``<action>/feedback``.

    ``Name_FeedbackMessage``, which wraps both, is no type that MCAP's readers for ROS 2 accept.
    """
    if topic.endswith(_ACTION_FEEDBACK) and type_name.endswith(_FEEDBACK_MESSAGE):
        visible = topic.removesuffix(_ACTION_FEEDBACK) + "/feedback"
        return Track(visible, type_name.removesuffix("Message"), is_feedback=True)
    return Track(topic, type_name)


def message_class(type_name: str) -> Any:
    """The Python class of ``package/msg/Name``, or of an action's feedback; raises LookupError."""
    package, kind, name = type_name.split("/")
    try:
        module = importlib.import_module(f"{package}.{kind}")
        if kind == "action" and name.endswith(_FEEDBACK_MESSAGE):
            return getattr(module, name.removesuffix(_FEEDBACK_MESSAGE)).Impl.FeedbackMessage
        return getattr(module, name)
    except (ImportError, AttributeError) as error:
        raise LookupError(f"type {type_name} is not installed here") from error


def matching_qos(node: Node, topic: str) -> QoSProfile | None:
    """A profile that every present publisher can serve, as reliable and as latched as they allow; None as
    long as there is no publisher."""
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    if not offered:
        return None
    reliable = all(profile.reliability == ReliabilityPolicy.RELIABLE for profile in offered)
    latched = all(profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for profile in offered)
    return recording_qos(reliable=reliable, latched=latched)


def demands_more(profile: QoSProfile, other: QoSProfile) -> bool:
    """Whether a subscription with ``profile`` leaves out publishers that one with ``other`` hears."""
    reliability, durability = ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL
    return (profile.reliability == reliability and other.reliability != reliability) or (
        profile.durability == durability and other.durability != durability
    )


def recording_qos(*, reliable: bool = True, latched: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def offered_qos_yaml(node: Node, topic: str) -> str:
    """The publishers' profiles as rosbag2 writes them (metadata version 9), for ``ros2 bag play``."""
    return "".join(_profile_yaml(info.qos_profile) for info in node.get_publishers_info_by_topic(topic))


def _profile_yaml(profile: QoSProfile) -> str:
    history = HistoryPolicy(profile.history)
    words = {
        # Discovery does not carry history and depth.
        "history": "unknown" if history == HistoryPolicy.UNKNOWN else history.name.lower(),
        "depth": profile.depth,
        "reliability": ReliabilityPolicy(profile.reliability).name.lower(),
        "durability": DurabilityPolicy(profile.durability).name.lower(),
        "deadline": _time(profile.deadline),
        "lifespan": _time(profile.lifespan),
        "liveliness": LivelinessPolicy(profile.liveliness).name.lower(),
        "liveliness_lease_duration": _time(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": str(bool(profile.avoid_ros_namespace_conventions)).lower(),
    }
    lines = []
    for key, value in words.items():
        if isinstance(value, dict):
            lines += [f"{key}:", f"  sec: {value['sec']}", f"  nsec: {value['nsec']}"]
        else:
            lines.append(f"{key}: {value}")
    return "".join(f"{'- ' if index == 0 else '  '}{line}\n" for index, line in enumerate(lines))


def _time(duration: Duration) -> dict[str, int]:
    seconds, nanoseconds = divmod(duration.nanoseconds, 10**9)
    return _INFINITE if duration.nanoseconds >= 2**63 - 1 else {"sec": seconds, "nsec": nanoseconds}
