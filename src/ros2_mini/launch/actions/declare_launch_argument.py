"""Launch arguments."""

from __future__ import annotations

from typing import Any

from ..action import Action
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class DeclareLaunchArgument(Action):
    """Declares an argument ``name:=value``; its value becomes the launch configuration of that name."""

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: list[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if choices is not None and len(choices) == 0:
            raise RuntimeError("Provided choices arg is empty. Use None to ignore the choice list.")
        if choices is not None and isinstance(default_value, str) and default_value not in choices:
            raise RuntimeError(
                f'Provided default_value "{default_value}" is not in provided choices "{choices}".'
            )
        self.__name = name
        self.__default_value = (
            None if default_value is None else normalize_to_list_of_substitutions(default_value)
        )
        self.__description = _describe(description, choices)
        self.__choices = choices
        self._conditionally_included = False  # set by LaunchDescription.get_launch_arguments()

    @property
    def name(self) -> str:
        return self.__name

    @property
    def default_value(self) -> list[Substitution] | None:
        return self.__default_value

    @property
    def description(self) -> str:
        return self.__description

    @property
    def choices(self) -> list[str] | None:
        return self.__choices

    def execute(self, context: LaunchContext) -> None:
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                raise RuntimeError(
                    f'Required launch argument "{self.name}" (description: "{self.description}") '
                    "was not provided"
                )
            context.launch_configurations[self.name] = perform_substitutions(context, self.default_value)
        value = context.launch_configurations[self.name]
        if self.choices is not None and value not in self.choices:
            raise RuntimeError(
                f'Argument "{self.name}" provided value "{value}" is not valid. '
                f"Valid options are: {self.choices}"
            )


def _describe(description: str | None, choices: list[str] | None) -> str:
    if description is None:
        return "no description given" if choices is None else f"One of: {choices}"
    if choices is None:
        return description
    return f"{description}{'' if description.endswith('.') else '.'} Valid choices are: {choices}"
