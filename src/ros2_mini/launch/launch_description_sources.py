"""Launch files. Only those in Python: XML and YAML need a full ROS 2."""

from __future__ import annotations

import os
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import TYPE_CHECKING, Any

from .invalid_launch_file_error import InvalidLaunchFileError
from .launch_description_source import LaunchDescriptionSource
from .some_substitutions_type import SomeSubstitutionsType

if TYPE_CHECKING:
    from .launch_description import LaunchDescription


class InvalidPythonLaunchFileError(InvalidLaunchFileError):
    """A file in Python that is no launch file."""


def load_python_launch_file_as_module(python_launch_file_path: str) -> Any:
    """Import a launch file by its path, without leaving compiled files behind."""
    loader = SourceFileLoader("python_launch_file", python_launch_file_path)
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    exec(compile(loader.get_data(python_launch_file_path), python_launch_file_path, "exec"), module.__dict__)
    return module


def get_launch_description_from_python_launch_file(python_launch_file_path: str) -> LaunchDescription:
    """Call the launch file's ``generate_launch_description``."""
    module = load_python_launch_file_as_module(python_launch_file_path)
    if not hasattr(module, "generate_launch_description"):
        raise AttributeError(
            f"launch file '{python_launch_file_path}' has no function generate_launch_description()"
        )
    return module.generate_launch_description()


def get_launch_description_from_any_launch_file(launch_file_path: str) -> LaunchDescription:
    """Load a launch file; errors name the line in the file."""
    extension = os.path.splitext(launch_file_path)[1]
    try:
        if not os.path.isfile(launch_file_path):
            raise FileNotFoundError(f"launch file '{launch_file_path}' does not exist")
        if extension != ".py":
            raise NotImplementedError(f"'{launch_file_path}': launch files in {extension} need a full ROS 2")
        description: Any = get_launch_description_from_python_launch_file(launch_file_path)
    except Exception as error:
        likely = [_explained(error)]
        raise InvalidLaunchFileError(extension, likely_errors=likely, path=launch_file_path) from error
    from .launch_description import LaunchDescription

    if not isinstance(description, LaunchDescription):
        wrong = TypeError(f"generate_launch_description() returned {description!r}, not a LaunchDescription")
        raise InvalidLaunchFileError(extension, likely_errors=[wrong], path=launch_file_path)
    return description


def _explained(error: Exception) -> Exception:
    """The same error or, if a part of launch is missing here, one that says where it is to be had."""
    module = ""
    if isinstance(error, ImportError):
        module = error.name or ""
    elif isinstance(error, AttributeError):
        module = getattr(error.obj, "__name__", "")
    if not module.startswith("launch"):
        return error
    explained = type(error)(f"{error}; ros2_mini has only a part of launch, this file needs a full ROS 2")
    return explained.with_traceback(error.__traceback__)


class AnyLaunchDescriptionSource(LaunchDescriptionSource):
    """A launch file of any format that is supported here."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(None, launch_file_path, "interpreted launch file")

    def _get_launch_description(self, location: str) -> LaunchDescription:
        return get_launch_description_from_any_launch_file(location)


class PythonLaunchDescriptionSource(AnyLaunchDescriptionSource):
    """A launch file in Python."""


__all__ = [
    "AnyLaunchDescriptionSource",
    "InvalidPythonLaunchFileError",
    "PythonLaunchDescriptionSource",
    "get_launch_description_from_any_launch_file",
    "get_launch_description_from_python_launch_file",
    "load_python_launch_file_as_module",
]
