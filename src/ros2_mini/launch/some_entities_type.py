"""What may be given where entities are asked for."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable

from .launch_description_entity import LaunchDescriptionEntity

SomeEntitiesType = LaunchDescriptionEntity | Iterable[LaunchDescriptionEntity]
SomeEntitiesType_types_tuple = (LaunchDescriptionEntity, collections.abc.Iterable)
