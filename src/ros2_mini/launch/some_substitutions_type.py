"""What may be given where text is asked for."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable

from .substitution import Substitution

SomeSubstitutionsType = str | Substitution | Iterable[str | Substitution]
SomeSubstitutionsType_types_tuple = (str, Substitution, collections.abc.Iterable)
