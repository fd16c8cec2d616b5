"""Stand-in for ROS 2 ``launch``: the part of its API that this project's launch files use."""

from __future__ import annotations

from ros2_mini.guard import refuse_beside_real

refuse_beside_real("launch")

from . import actions, conditions, event_handlers, events, logging, substitutions, utilities  # noqa: E402
from .action import Action  # noqa: E402
from .condition import Condition  # noqa: E402
from .event import Event  # noqa: E402
from .event_handler import BaseEventHandler, EventHandler  # noqa: E402
from .invalid_launch_file_error import InvalidLaunchFileError  # noqa: E402
from .launch_context import LaunchContext  # noqa: E402
from .launch_description import LaunchDescription  # noqa: E402
from .launch_description_entity import LaunchDescriptionEntity  # noqa: E402
from .launch_description_source import LaunchDescriptionSource  # noqa: E402
from .launch_service import LaunchService  # noqa: E402
from .some_entities_type import SomeEntitiesType, SomeEntitiesType_types_tuple  # noqa: E402
from .some_substitutions_type import (  # noqa: E402
    SomeSubstitutionsType,
    SomeSubstitutionsType_types_tuple,
)
from .substitution import Substitution  # noqa: E402

__all__ = [
    "Action",
    "BaseEventHandler",
    "Condition",
    "Event",
    "EventHandler",
    "InvalidLaunchFileError",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchDescriptionSource",
    "LaunchService",
    "SomeEntitiesType",
    "SomeEntitiesType_types_tuple",
    "SomeSubstitutionsType",
    "SomeSubstitutionsType_types_tuple",
    "Substitution",
    "actions",
    "conditions",
    "event_handlers",
    "events",
    "logging",
    "substitutions",
    "utilities",
]
