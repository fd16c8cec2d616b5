"""``manifest.yaml``: what a model folder holds and what it was made for. Loading checks every word of it.

A model that does not match its manifest never reaches a robot: missing, truncated, swapped or foreign
files raise ``ModelError`` with the file
and the remedy.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FILE_NAME = "manifest.yaml"
FORMAT = 1
DIMENSIONS = ("state", "action", "belief", "embedding")


class ModelError(RuntimeError):
    """A model folder is unusable; the message names the file and the remedy."""


@dataclass(frozen=True)
class Manifest:
    """Contents of ``manifest.yaml``. X, U, B, F: dimensions of state, action, belief and embedding."""

    format: int
    plant: str
    variant: str
    monotone: bool
    period: float
    state_names: tuple[str, ...]
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    dimensions: dict[str, int]
    normalisation: dict[str, list[float]]
    opset: int
    files: dict[str, str]  # graph name -> sha256 of <graph name>.onnx
    training: dict[str, Any]
    evaluation: dict[str, Any]

    @property
    def model_hash(self) -> str:
        """Identifies the model on the graph: sixteen hex digits over the hashes of all its files."""
        text = "".join(f"{name}:{self.files[name]};" for name in sorted(self.files))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def save(self, folder: Path) -> None:
        data = dataclasses.asdict(self) | {"model_hash": self.model_hash}
        text = yaml.safe_dump(_plain(data), sort_keys=False, allow_unicode=True, width=110)
        (folder / FILE_NAME).write_text(text)

    def check_files(self, folder: Path) -> None:
        """Every graph is there and is the one that was exported."""
        for name, expected in self.files.items():
            path = graph_path(folder, name)
            if not path.is_file():
                raise ModelError(
                    f"{path}: missing; restore it from git or export the model again with export.py"
                )
            if file_hash(path) != expected:
                raise ModelError(
                    f"{path}: contents differ from {FILE_NAME} (truncated, edited or from another model); "
                    "restore the folder from git or export the model again with export.py"
                )


def load_manifest(folder: Path) -> Manifest:
    path = folder / FILE_NAME
    try:
        data = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        raise ModelError(
            f"{path}: missing; {folder} is not an exported model. Name a folder of models/ or run export.py"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise ModelError(f"{path}: unreadable ({error}); restore it from git or export again") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path}: empty or damaged; restore it from git or export again")
    stated_hash = data.pop("model_hash", None)
    names = {field.name for field in dataclasses.fields(Manifest)}
    if names != set(data):
        difference = ", ".join(sorted(names ^ set(data)))
        raise ModelError(
            f"{path}: missing or unknown fields: {difference}; export the model again with this version"
        )
    if data["format"] != FORMAT:
        raise ModelError(
            f"{path}: format {data['format']}, this version reads {FORMAT}; export the model again"
        )
    _check_types(path, data)
    for name in ("state_names", "action_low", "action_high"):
        data[name] = tuple(data[name])
    manifest = Manifest(**data)
    _check_sizes(path, manifest)
    if stated_hash != manifest.model_hash:
        raise ModelError(
            f"{path}: model_hash does not belong to the listed files; restore it from git or export again"
        )
    return manifest


def _check_types(path: Path, data: dict[str, Any]) -> None:
    """Each field is of the kind that ``Manifest`` declares; tuples are lists in YAML."""
    kinds: dict[str, Any] = {"dict": dict, "tuple": list, "float": (int, float)}
    kinds |= {kind.__name__: kind for kind in (int, bool, str)}
    for field in dataclasses.fields(Manifest):
        kind = str(field.type).split("[")[0]
        if not isinstance(data[field.name], kinds[kind]):
            raise ModelError(
                f"{path}: {field.name} is {data[field.name]!r}, expected a {kind}; "
                "restore it from git or export again"
            )


def _check_sizes(path: Path, manifest: Manifest) -> None:
    """Names, bounds and normalisation have the sizes that ``dimensions`` states."""
    sizes = manifest.dimensions
    if set(sizes) != set(DIMENSIONS) or not all(isinstance(n, int) and n > 0 for n in sizes.values()):
        raise ModelError(f"{path}: dimensions must name positive {', '.join(DIMENSIONS)}; export again")
    lengths = {name: (getattr(manifest, name), "action") for name in ("action_low", "action_high")}
    lengths["state_names"] = (manifest.state_names, "state")
    for name, values in manifest.normalisation.items():
        lengths[f"normalisation.{name}"] = (tuple(values), "action" if name == "action_scale" else "state")
    for name, (values, dimension) in lengths.items():
        if len(values) != sizes[dimension]:
            raise ModelError(
                f"{path}: {name} has {len(values)} entries, dimensions.{dimension} is {sizes[dimension]}; "
                "restore it from git or export again"
            )


def graph_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.onnx"


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _plain(value: Any) -> Any:
    """Tuples as lists, so that the YAML is plain."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
