"""Substitutions that find packages and what is in them."""

from __future__ import annotations

import os

from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


class FindPackagePrefix(Substitution):
    """Prefix in which a package is installed."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        super().__init__()
        self.__package = normalize_to_list_of_substitutions(package)

    @property
    def package(self) -> list[Substitution]:
        return self.__package

    def describe(self) -> str:
        return f"{type(self).__name__}(pkg={' + '.join(sub.describe() for sub in self.package)})"

    def perform(self, context: LaunchContext) -> str:
        return self.find(perform_substitutions(context, self.package))

    def find(self, package_name: str) -> str:
        from ament_index_python.packages import get_package_prefix

        return get_package_prefix(package_name)


FindPackage = FindPackagePrefix


class FindPackageShare(FindPackagePrefix):
    """Share folder of a package."""

    def find(self, package_name: str) -> str:
        return os.path.join(super().find(package_name), "share", package_name)


class ExecutableInPackage(FindPackagePrefix):
    """Path of an executable in a package's ``lib/<package>``."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        super().__init__(package)
        self.__executable = normalize_to_list_of_substitutions(executable)

    @property
    def executable(self) -> list[Substitution]:
        return self.__executable

    def describe(self) -> str:
        texts = (" + ".join(sub.describe() for sub in part) for part in (self.package, self.executable))
        return "ExecInPkg(pkg={}, exec={})".format(*texts)

    def perform(self, context: LaunchContext) -> str:
        executable = perform_substitutions(context, self.executable)
        package = perform_substitutions(context, self.package)
        folder = os.path.join(self.find(package), "lib", package)
        path = os.path.join(folder, executable)
        if not (os.path.isfile(path) and os.access(path, os.X_OK)):
            raise SubstitutionFailure(
                f"executable '{executable}' not found on the libexec directory '{folder}' "
            )
        return path


__all__ = ["ExecutableInPackage", "FindPackage", "FindPackagePrefix", "FindPackageShare"]
