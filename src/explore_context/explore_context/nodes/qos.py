"""The quality-of-service profiles of the graph, by name."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

STATE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""``state``: reliable, so that no transition is lost to the network; a late joiner waits for the next
state."""

ACTION = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""``action``: reliable and volatile; an action from before the plant came up must never reach it."""

LATCHED = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""``plant_info``, ``context_belief``: a late joiner has the last one at once."""

ACKNOWLEDGEMENT = Duration(seconds=0.5)
"""How long a process that ends waits until its last command has arrived."""
