"""Message definitions as MCAP stores them: schema encoding ``ros2msg``, every nested type appended.

The texts come from the interface packages that are installed, ``share/<package>/msg/<Name>.msg`` below the
prefixes of ``AMENT_PREFIX_PATH``. An action's feedback has no file of its own; its definition is the third
part of the ``.action`` file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SEPARATOR = "=" * 80
_FEEDBACK = "_Feedback"
_PRIMITIVES = frozenset(
    ["bool", "byte", "char", "float32", "float64", "string", "wstring"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
# A field is `type name [default]`, a constant is `type NAME=value`.
_FIELD = re.compile(r"^([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+\w+\s*(=?)")


class DefinitionError(LookupError):
    """The definition of a message type is nowhere to be found."""


@dataclass(frozen=True)
class Definition:
    """A message type and its full text; ``type_hash`` is empty where ROS 2 states none."""

    type_name: str
    text: str
    type_hash: str = ""


def installed_prefixes() -> tuple[Path, ...]:
    """The prefixes of ``AMENT_PREFIX_PATH``, overlays first."""
    return tuple(Path(entry) for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry)


def find_definition(type_name: str, prefixes: Sequence[Path] | None = None) -> Definition:
    """The definition of ``package/msg/Name`` or ``package/action/Name_Feedback``."""
    places = installed_prefixes() if prefixes is None else tuple(prefixes)
    texts = {type_name: _own_text(type_name, places)}
    waiting = [type_name]
    while waiting:
        current = waiting.pop(0)
        for nested in _nested_types(texts[current], current):
            if nested not in texts:
                texts[nested] = _own_text(nested, places)
                waiting.append(nested)
    root = texts.pop(type_name)
    parts = [root, *(f"{SEPARATOR}\nMSG: {_short(name)}\n{text}" for name, text in texts.items())]
    return Definition(
        type_name, "\n".join(part.rstrip("\n") for part in parts) + "\n", _type_hash(type_name, places)
    )


def _own_text(type_name: str, prefixes: Sequence[Path]) -> str:
    package, kind, name = type_name.split("/")
    is_feedback = kind == "action" and name.endswith(_FEEDBACK)
    file = f"{name.removesuffix(_FEEDBACK)}.action" if is_feedback else f"{name}.msg"
    found = _find(prefixes, f"share/{package}/{kind}/{file}")
    if found is None:
        raise DefinitionError(
            f"no share/{package}/{kind}/{file} below AMENT_PREFIX_PATH; source the workspace of {package}"
        )
    text = found.read_text()
    return re.split(r"(?m)^---\s*$", text)[2].lstrip("\n") if is_feedback else text


def _nested_types(text: str, owner: str) -> Iterator[str]:
    package = owner.split("/")[0]
    for line in text.splitlines():
        field = _FIELD.match(line.split("#", 1)[0].strip())
        if field is None or field[2] or field[1] in _PRIMITIVES:
            continue
        name = field[1] if "/" in field[1] else f"{package}/{field[1]}"
        yield f"{name.split('/')[0]}/msg/{name.split('/')[-1]}"


def _short(type_name: str) -> str:
    package, _, name = type_name.split("/")
    return f"{package}/{name}"


def _find(prefixes: Sequence[Path], relative: str) -> Path | None:
    return next((prefix / relative for prefix in prefixes if (prefix / relative).is_file()), None)


def _type_hash(type_name: str, prefixes: Sequence[Path]) -> str:
    """The RIHS01 hash of a message type, '' where the package states none."""
    package, kind, name = type_name.split("/")
    path = _find(prefixes, f"share/{package}/{kind}/{name.removesuffix(_FEEDBACK)}.json")
    if path is None:
        return ""
    hashes = {
        entry["type_name"]: entry["hash_string"] for entry in json.loads(path.read_text())["type_hashes"]
    }
    return str(hashes.get(type_name, ""))
