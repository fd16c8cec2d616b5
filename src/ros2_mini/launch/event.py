"""Base class of events."""

from __future__ import annotations


class Event:
    """Something that happened in the launched system."""

    name = "launch.Event"
