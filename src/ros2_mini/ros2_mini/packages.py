"""Installed packages and what is in them, found by the ament index."""

from __future__ import annotations

import os
from pathlib import Path

from ros2_mini.errors import CommandError


def package_names() -> list[str]:
    """Names of all packages, sorted."""
    from ament_index_python.packages import get_packages_with_prefixes

    return sorted(get_packages_with_prefixes())


def package_prefix(package: str) -> Path:
    """Prefix of a package; CommandError if there is none."""
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    try:
        return Path(get_package_prefix(package))
    except (PackageNotFoundError, ValueError) as error:
        raise CommandError(f"Package '{package}' not found: {error}") from error


def executables(package: str) -> list[Path]:
    """Executables of a package, sorted."""
    folder = package_prefix(package) / "lib" / package
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK))


def find_in_share(package: str, file_name: str) -> Path:
    """A file below a package's share folder, by its name."""
    share = package_prefix(package) / "share" / package
    found = [Path(root) / file_name for root, _, files in os.walk(share) if file_name in files]
    if not found:
        raise CommandError(
            f"file '{file_name}' was not found in the share directory of package '{package}' "
            f"which is at '{share}'"
        )
    if len(found) > 1:
        paths = ", ".join(f"'{path}'" for path in found)
        raise CommandError(
            f"file '{file_name}' was found more than once in the share directory of package '{package}': "
            f"[{paths}]"
        )
    return found[0]
