"""Nodes as processes."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from launch.actions import ExecuteProcess
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.logging import get_logger
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitutions import TextSubstitution
from launch.utilities import ensure_argument_type, normalize_to_list_of_substitutions, perform_substitutions

from ..substitutions import ExecutableInPackage
from ..utilities import evaluate_parameters, prefix_namespace, validate_namespace, validate_node_name


class Node(ExecuteProcess):
    """Runs an executable of a package with ROS arguments for name, namespace, parameters and remappings."""

    UNSPECIFIED_NODE_NAME = "<node_name_unspecified>"
    UNSPECIFIED_NODE_NAMESPACE = "<node_namespace_unspecified>"

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: Sequence[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        cmd: list[SomeSubstitutionsType] = [
            executable if package is None else ExecutableInPackage(package=package, executable=executable)
        ]
        cmd += [] if arguments is None else list(arguments)
        cmd += [] if ros_arguments is None else ["--ros-args", *ros_arguments]
        cmd += ["--ros-args"]
        if parameters is not None:
            ensure_argument_type(parameters, (list, tuple), "parameters", "Node")
        super().__init__(cmd=cmd, name=exec_name, **kwargs)
        self.__package = package
        self.__executable = executable
        self.__name = None if name is None else normalize_to_list_of_substitutions(name)
        self.__namespace = None if namespace is None else normalize_to_list_of_substitutions(namespace)
        self.__parameters = list(parameters or [])
        self.__remappings = [
            (normalize_to_list_of_substitutions(src), normalize_to_list_of_substitutions(dst))
            for src, dst in (remappings or [])
        ]
        self.__final_name: str | None = None

    @property
    def node_package(self) -> Any:
        return self.__package

    @property
    def node_executable(self) -> Any:
        return self.__executable

    @property
    def node_name(self) -> str:
        """Fully qualified name, known once the action is executed."""
        if self.__final_name is None:
            raise RuntimeError("cannot access 'node_name' before executing action")
        return self.__final_name

    def is_node_name_fully_specified(self) -> bool:
        unspecified = (self.UNSPECIFIED_NODE_NAME, self.UNSPECIFIED_NODE_NAMESPACE)
        return not any(word in self.node_name for word in unspecified)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        self._perform_substitutions(context)
        result = super().execute(context)
        if self.is_node_name_fully_specified():
            self.__warn_of_same_name(context)
        return result

    def _perform_substitutions(self, context: LaunchContext) -> None:
        """Find name and namespace and append the ROS arguments to the command, once."""
        if self.__final_name is not None:
            return
        name = None if self.__name is None else perform_substitutions(context, self.__name)
        given = None if self.__namespace is None else perform_substitutions(context, self.__namespace)
        namespace = prefix_namespace(context.launch_configurations.get("ros_namespace"), given)
        try:
            if name is not None:
                validate_node_name(name)
                self.__append("-r", f"__node:={name}")
            if namespace is not None:
                validate_namespace(namespace)
                self.__append("-r", f"__ns:={namespace}")
        except ValueError as error:
            raise ValueError(
                f"node of package={self.__package}, executable={self.__executable}: {error}"
            ) from error
        shown_name = self.UNSPECIFIED_NODE_NAME if name is None else name
        shown_namespace = self.UNSPECIFIED_NODE_NAMESPACE if namespace is None else namespace.rstrip("/")
        self.__final_name = f"{shown_namespace}/{shown_name}"
        self.__append_parameters(context)
        for src, dst in context.launch_configurations.get("ros_remaps", []):
            self.__append("-r", f"{src}:={dst}")
        for sources, targets in self.__remappings:
            rule = f"{perform_substitutions(context, sources)}:={perform_substitutions(context, targets)}"
            self.__append("-r", rule)

    def __append(self, flag: str, text: str) -> None:
        self.cmd.extend([[TextSubstitution(text=flag)], [TextSubstitution(text=text)]])

    def __append_parameters(self, context: LaunchContext) -> None:
        import yaml

        for name, value in context.launch_configurations.get("global_params", []):
            self.__append("-p", f"{name}:={value}")
        for parameter in evaluate_parameters(context, self.__parameters):
            if isinstance(parameter, dict):
                self.__append("--params-file", str(self.__write(parameter)))
            elif isinstance(parameter, tuple):
                self.__append("-p", f"{parameter[0]}:={yaml.dump(parameter[1])}")
            elif parameter.is_file():
                self.__append("--params-file", str(parameter))
            else:
                get_logger("launch_ros.actions.node").warning(
                    "Parameter file path is not a file: %s", parameter
                )

    def __write(self, parameters: dict[str, Any]) -> Path:
        """A parameter file for this node alone, or for any node where its name is not known."""
        import yaml

        key = self.node_name if self.is_node_name_fully_specified() else "/**"
        with tempfile.NamedTemporaryFile("w", prefix="launch_params_", delete=False) as file:
            yaml.safe_dump({key: {"ros__parameters": parameters}}, file, default_flow_style=False)
        path = Path(file.name)
        atexit.register(path.unlink, missing_ok=True)
        return path

    def __warn_of_same_name(self, context: LaunchContext) -> None:
        names = context.get_locals_as_dict().get("unique_ros_node_names", {})
        names[self.node_name] = names.get(self.node_name, 0) + 1
        context.extend_globals({"unique_ros_node_names": names})
        if names[self.node_name] > 1:
            get_logger(self.name).warning(
                "there are now at least %d nodes with the name %s created within this launch context",
                names[self.node_name],
                self.node_name,
            )
