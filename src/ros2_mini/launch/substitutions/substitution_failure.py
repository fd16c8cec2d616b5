"""The error of a substitution that cannot be evaluated."""

from __future__ import annotations


class SubstitutionFailure(RuntimeError):
    """A substitution that cannot be evaluated in this context."""
