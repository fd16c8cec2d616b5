"""Results of units of work on disk, so that an evaluation can be interrupted and resumed, and repeated for
free.

A result is valid for the unit's settings, the model's hash and the version of the code that computes it. The
version is taken from the syntax trees of the modules involved, without docstrings: a comment does not throw
hours of work away, a changed number does.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import explore_context.model
import explore_context.planning
import explore_context.plants
from explore_context_evaluation.models import ModelReference

Record = dict[str, NDArray[Any]]


def default_folder() -> Path:
    root = os.environ.get("EXPLORE_CONTEXT_CACHE") or Path.home() / ".cache" / "explore_context"
    return Path(root) / "evaluation"


class Cache:
    """One ``.npz`` file per unit. ``fresh`` ignores what is there and writes anew."""

    def __init__(self, folder: Path, fresh: bool = False) -> None:
        self.folder, self.fresh = folder, fresh
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, unit: Any) -> Record | None:
        """The stored result; None if there is none, or if the file is damaged."""
        path = self._path(unit)
        if self.fresh or not path.is_file():
            return None
        try:
            with np.load(path, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None  # cut off by a full disk or a kill: computed again

    def store(self, unit: Any, record: Record) -> None:
        """Write under a temporary name and rename: a reader never sees half a file."""
        path = self._path(unit)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, **record)  # type: ignore[arg-type]
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _path(self, unit: Any) -> Path:
        return self.folder / type(unit).__name__ / f"{unit_key(unit)}.npz"


def unit_key(unit: Any) -> str:
    """Hash of the unit's kind, fields, models and of the code."""
    text = json.dumps([_plain(unit), code_version()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _plain(value: Any) -> Any:
    if isinstance(value, ModelReference):
        return {"model": value.model_hash, "plant": value.plant}  # wherever its folder stands
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


@functools.cache
def code_version(without: frozenset[str] = frozenset()) -> str:
    """Hash of what decides a unit's result: plants, model, planning, and the units themselves.

    ``without``: names of files that do not matter for a certain kind of result.
    """
    packages = (explore_context.plants, explore_context.model, explore_context.planning)
    folders = [Path(package.__file__ or "").parent for package in packages]
    here = Path(__file__).parent
    files = [path for folder in folders for path in sorted(folder.glob("*.py")) if path.name not in without]
    files += [*sorted((here / "units").glob("*.py")), here / "prediction.py"]
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.parent.name}/{path.name}".encode())
        digest.update(code_text(path.read_text()).encode())
    return digest.hexdigest()[:16]


def code_text(source: str) -> str:
    """The syntax tree of ``source`` as text, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)
