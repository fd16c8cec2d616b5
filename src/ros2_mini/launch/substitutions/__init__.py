"""The substitutions that launch files use."""

from __future__ import annotations

from .booleans import (
    AndSubstitution,
    EqualsSubstitution,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
)
from .substitution_failure import SubstitutionFailure
from .text_substitution import TextSubstitution
from .values import (
    EnvironmentVariable,
    LaunchConfiguration,
    LocalSubstitution,
    PathJoinSubstitution,
    PythonExpression,
    ThisLaunchFile,
    ThisLaunchFileDir,
)

__all__ = [
    "AndSubstitution",
    "EnvironmentVariable",
    "EqualsSubstitution",
    "LaunchConfiguration",
    "LocalSubstitution",
    "NotEqualsSubstitution",
    "NotSubstitution",
    "OrSubstitution",
    "PathJoinSubstitution",
    "PythonExpression",
    "SubstitutionFailure",
    "TextSubstitution",
    "ThisLaunchFile",
    "ThisLaunchFileDir",
]
