"""Helpers shared by actions and substitutions."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


def ensure_argument_type(argument: Any, types: Any, argument_name: str, caller: str | None = None) -> None:
    """Raise TypeError unless ``argument`` is of one of ``types``."""
    allowed = tuple(types) if isinstance(types, collections.abc.Iterable) else (types,)
    if not isinstance(argument, allowed):
        names = ", ".join(getattr(t, "__name__", str(t)) for t in allowed)
        where = f" of {caller}" if caller else ""
        raise TypeError(
            f"argument '{argument_name}'{where} must be one of [{names}], "
            f"got {argument!r} ({type(argument).__name__})"
        )


def is_a(obj: Any, entity_type: type) -> bool:
    return isinstance(obj, entity_type)


is_a_subclass = is_a


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Text, a substitution or a mixed list of both, as a list of substitutions."""
    from ..substitutions.text_substitution import TextSubstitution

    def normalize(item: Any) -> Substitution:
        if isinstance(item, str):
            return TextSubstitution(text=item)
        if isinstance(item, Substitution):
            return item
        raise TypeError(
            f"Failed to normalize given item of type '{type(item)}', expected text or a substitution."
        )

    if isinstance(subs, str) or not isinstance(subs, collections.abc.Iterable):
        return [normalize(subs)]
    return [normalize(item) for item in subs]


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Join the text of all substitutions."""
    return "".join(context.perform_substitution(sub) for sub in subs)


from .type_utils import normalize_typed_substitution, perform_typed_substitution  # noqa: E402

__all__ = [
    "ensure_argument_type",
    "is_a",
    "is_a_subclass",
    "normalize_to_list_of_substitutions",
    "normalize_typed_substitution",
    "perform_substitutions",
    "perform_typed_substitution",
]
