"""A place that a launch description comes from."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from .launch_context import LaunchContext
from .some_substitutions_type import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from .launch_description import LaunchDescription


class LaunchDescriptionSource:
    """Loads a launch description once, when its location is known."""

    def __init__(
        self,
        launch_description: Any = None,
        location: SomeSubstitutionsType = "<script>",
        method: str = "unspecified mechanism from a script",
    ) -> None:
        self.__launch_description = launch_description
        self.__location = normalize_to_list_of_substitutions(location)
        self.__expanded_location: str | None = None
        self.__method = method

    @property
    def method(self) -> str:
        return self.__method

    @property
    def location(self) -> str:
        """Path as far as known, else a description of how it will be found."""
        if self.__expanded_location is not None:
            return self.__expanded_location
        return " + ".join(sub.describe() for sub in self.__location)

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Load if that has not happened yet."""
        if self.__expanded_location is None:
            self.__expanded_location = perform_substitutions(context, self.__location)
        if self.__launch_description is None:
            self.__launch_description = self._get_launch_description(self.__expanded_location)
        return self.__launch_description

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Load before the launch runs, as far as the location does not depend on it."""
        if self.__launch_description is None:
            try:
                self.get_launch_description(LaunchContext())
            except Exception:
                from .logging import get_logger

                get_logger("launch").debug(traceback.format_exc())
                self.__expanded_location = None
        return self.__launch_description

    def _get_launch_description(self, location: str) -> LaunchDescription:
        raise NotImplementedError("a LaunchDescriptionSource must override _get_launch_description()")
