"""Actions that hold for all nodes launched after them in the same scope."""

from __future__ import annotations

from typing import Any

from launch.action import Action
from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..utilities import evaluate_parameter_dict, prefix_namespace, validate_namespace


class PushRosNamespace(Action):
    """Puts the nodes that follow into a namespace, until the end of the GroupAction."""

    def __init__(self, namespace: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__namespace = normalize_to_list_of_substitutions(namespace)

    def execute(self, context: LaunchContext) -> None:
        pushed = perform_substitutions(context, self.__namespace)
        previous = context.launch_configurations.get("ros_namespace")
        namespace = prefix_namespace(previous, pushed)
        assert namespace is not None
        try:
            validate_namespace(namespace)
        except ValueError as error:
            raise SubstitutionFailure(
                "The resulting namespace is invalid: "
                f"[previous_namespace='{previous}', pushed_namespace='{pushed}']"
            ) from error
        context.launch_configurations["ros_namespace"] = namespace


class SetParameter(Action):
    """Sets a parameter of all nodes that follow; a node's own parameters come after it and win."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__parameters = {tuple(normalize_to_list_of_substitutions(name)): value}

    def execute(self, context: LaunchContext) -> None:
        rules = list(evaluate_parameter_dict(context, self.__parameters).items())
        # a new list, because the one of the enclosing scope must stay as it is
        context.launch_configurations["global_params"] = [
            *context.launch_configurations.get("global_params", []),
            *rules,
        ]


class SetRemap(Action):
    """Sets a remapping rule for all nodes that follow."""

    def __init__(self, src: SomeSubstitutionsType, dst: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__src = normalize_to_list_of_substitutions(src)
        self.__dst = normalize_to_list_of_substitutions(dst)

    def execute(self, context: LaunchContext) -> None:
        rule = (perform_substitutions(context, self.__src), perform_substitutions(context, self.__dst))
        context.launch_configurations["ros_remaps"] = [
            *context.launch_configurations.get("ros_remaps", []),
            rule,
        ]
