"""Actions on launch configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..action import Action
from ..launch_context import LaunchContext
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class SetLaunchConfiguration(Action):
    """Set a launch configuration by name."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)

    @property
    def name(self) -> list[Substitution]:
        return self.__name

    @property
    def value(self) -> list[Substitution]:
        return self.__value

    def execute(self, context: LaunchContext) -> None:
        name = perform_substitutions(context, self.name)
        context.launch_configurations[name] = perform_substitutions(context, self.value)


class UnsetLaunchConfiguration(Action):
    """Forget a launch configuration."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)

    def execute(self, context: LaunchContext) -> None:
        context.launch_configurations.pop(perform_substitutions(context, self.__name), None)


class PushLaunchConfigurations(Action):
    """Begin a scope of launch configurations."""

    def execute(self, context: LaunchContext) -> None:
        context._push_launch_configurations()


class PopLaunchConfigurations(Action):
    """End a scope of launch configurations."""

    def execute(self, context: LaunchContext) -> None:
        context._pop_launch_configurations()


class ResetLaunchConfigurations(Action):
    """Forget all launch configurations but those given."""

    def __init__(
        self,
        launch_configurations: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__launch_configurations = dict(launch_configurations or {})

    def execute(self, context: LaunchContext) -> None:
        kept = {
            perform_substitutions(context, normalize_to_list_of_substitutions(name)): perform_substitutions(
                context, normalize_to_list_of_substitutions(value)
            )
            for name, value in self.__launch_configurations.items()
        }
        context.launch_configurations.clear()
        context.launch_configurations.update(kept)
