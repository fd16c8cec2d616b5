"""Export: every graph computes what PyTorch computes, for every architecture; a damaged model folder
never loads.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
import yaml

from explore_context.model import ContextModel, ModelError, SessionSettings
from explore_context.plants import get_plant
from explore_context_training.checkpoint import Checkpoint, TrainingRecord
from explore_context_training.data import EndlessData
from explore_context_training.export.exporter import export_checkpoint
from explore_context_training.export.graphs import GRAPHS
from explore_context_training.export.parity import TOLERANCE, parity_errors
from explore_context_training.networks import ContextModel as TorchModel
from explore_context_training.networks import Normalisation
from explore_context_training.settings import (
    DataSettings,
    ModelSettings,
    ObjectiveSettings,
    OptimiserSettings,
    StageSettings,
    TrainingSettings,
)

GRU = ModelSettings("gru", latent=24, hidden=20, embedding=16, belief=5)
RESIDUAL = ModelSettings(
    "residual",
    latent=6,
    hidden=32,
    embedding=16,
    belief=5,
    layers=2,
    encoder_hidden=(24, 24),
    encoder_products=True,
)
ARCHITECTURES = {
    "paper": GRU,
    "paper with products": replace(GRU, encoder_products=True, normalise=True),
    "not monotone": replace(GRU, monotone=False),
    "residual": replace(RESIDUAL, anchored=True, normalise=True),
    "modulated": replace(RESIDUAL, modulated=True, body=20, substeps=2, contact=True, normalise=True),
    "contact": replace(RESIDUAL, contact=True, normalise=True),
    "constant variance": replace(RESIDUAL, constant_variance=True, normalise=True),
}


def make_checkpoint(model_settings: ModelSettings, plant_name: str = "pendulum") -> Checkpoint:
    plant = get_plant(plant_name)
    settings = TrainingSettings(
        model_settings,
        DataSettings(pairs=20, blocks=1),
        OptimiserSettings(),
        ObjectiveSettings(),
        (StageSettings(1, 2),),
    )
    spec = plant.spec
    if model_settings.normalise:
        normalisation = EndlessData(plant, settings.data, 0).normalisation()
    else:
        normalisation = Normalisation.identity(spec.observation_dim, spec.action_dim)
    torch.manual_seed(1)
    model = TorchModel(model_settings, spec.observation_dim, spec.action_dim, normalisation)
    record = TrainingRecord(plant_name, "test", 0, 1, 1.0, "none", "none", {})
    return Checkpoint(record, settings, normalisation, model.state_dict(), {})


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "pendulum"
    export_checkpoint(make_checkpoint(ARCHITECTURES["residual"]), folder)
    return folder


@pytest.fixture
def copy(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "model"))


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=str)
@pytest.mark.parametrize("plant", ["pendulum", "mountain_car", "toy_inner"])
def test_every_graph_matches_pytorch(tmp_path: Path, architecture: str, plant: str) -> None:
    checkpoint = make_checkpoint(ARCHITECTURES[architecture], plant)
    manifest = export_checkpoint(checkpoint, tmp_path / "model")
    errors = parity_errors(checkpoint.build_model().eval(), tmp_path / "model")
    assert set(errors) == set(GRAPHS) == set(manifest.files)
    assert max(errors.values()) <= TOLERANCE


def test_one_file_per_graph_and_no_external_data(exported: Path) -> None:
    for name in GRAPHS:
        model = onnx.load(str(exported / f"{name}.onnx"), load_external_data=False)
        assert all(tensor.data_location == onnx.TensorProto.DEFAULT for tensor in model.graph.initializer)
    assert {p.suffix for p in exported.iterdir()} <= {".onnx", ".yaml", ".jsonl"}


def test_run_time_matches_pytorch_on_a_whole_calibration(exported: Path) -> None:
    reference = make_checkpoint(ARCHITECTURES["residual"]).build_model()
    model = ContextModel.load(exported, SessionSettings(provider="cpu"), get_plant("pendulum").spec)
    rng = np.random.default_rng(0)
    x, u, y = rng.uniform(-1, 1, (12, 3)), rng.uniform(-2, 2, (12, 1)), rng.uniform(-1, 1, (12, 3))
    belief = model.prior
    for k in range(12):
        belief = model.update(belief, x[k : k + 1], u[k : k + 1], y[k : k + 1])
    with torch.no_grad():
        rows = [torch.tensor(a, dtype=torch.float32) for a in (x, u, y)]
        mean, std = reference.belief(reference.embed(*rows).amax(0, keepdim=True))
    np.testing.assert_allclose(belief.mean, mean[0], atol=1e-5)
    np.testing.assert_allclose(belief.std, std[0], atol=1e-5)
    assert belief.transitions == 12
    whole = model.belief(x, u, y)
    np.testing.assert_allclose(whole.mean, belief.mean, atol=1e-6)
    one, _ = model.predict_one(x, u, belief.mean)
    many, _ = model.predict(x, u[:, None], belief.mean)
    np.testing.assert_allclose(one, many[:, 0], atol=1e-6)


def test_manifest_tells_how_the_model_came_to_be(exported: Path) -> None:
    manifest = yaml.safe_load((exported / "manifest.yaml").read_text())
    assert manifest["plant"] == "pendulum" and manifest["variant"] == "residual" and manifest["opset"] >= 13
    assert manifest["training"]["settings"]["model"]["latent"] == 6
    assert {"seed", "step", "wall_time", "hardware", "git_revision", "recipe"} <= set(manifest["training"])
    assert all(len(digest) == 64 for digest in manifest["files"].values())


def _edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **changes}))


def _edit_dimension(folder: Path, **changes: int) -> None:
    sizes = yaml.safe_load((folder / "manifest.yaml").read_text())["dimensions"]
    _edit_manifest(folder, dimensions={**sizes, **changes})


def _truncate(folder: Path) -> None:
    path = folder / "rollout.onnx"
    path.write_bytes(path.read_bytes()[:-100])


def _swap(folder: Path) -> None:
    (folder / "step.onnx").write_bytes((folder / "encoder.onnx").read_bytes())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "belief.onnx").unlink(), r"belief\.onnx: missing; restore"),
        (_truncate, r"rollout\.onnx: contents differ"),
        (_swap, r"step\.onnx: contents differ"),
        (lambda f: (f / "manifest.yaml").unlink(), r"manifest\.yaml: missing"),
        (lambda f: (f / "manifest.yaml").write_text(""), r"manifest\.yaml: empty or damaged"),
        (lambda f: (f / "manifest.yaml").write_text("{"), r"manifest\.yaml: unreadable"),
        (lambda f: _edit_manifest(f, format=99), "format 99"),
        (lambda f: _edit_manifest(f, colour="red"), "missing or unknown fields: colour"),
        (lambda f: _edit_manifest(f, model_hash="0" * 16), "model_hash does not belong"),
        (
            lambda f: _edit_manifest(f, plant="mountain_car"),
            "plant is 'mountain_car', the plant's is 'pendulum'",
        ),
        (lambda f: _edit_manifest(f, period=0.2), "period is 0.2"),
        (lambda f: _edit_manifest(f, action_low=None), "action_low is None, expected a tuple"),
        (lambda f: _edit_manifest(f, action_low=[-2.0, -2.0]), "action_low has 2 entries"),
        (lambda f: _edit_manifest(f, dimensions={"state": 3}), "dimensions must name positive"),
        (lambda f: _edit_dimension(f, embedding=17), r"encoder\.onnx: embedding is 16 wide.*say 17"),
        (lambda f: _edit_dimension(f, belief=6), r"beta is 5 wide.*say 6"),
    ],
)
def test_a_damaged_or_foreign_model_never_loads(copy: Path, damage, message: str) -> None:
    damage(copy)
    with pytest.raises(ModelError, match=message):
        ContextModel.load(copy, SessionSettings(provider="cpu"), get_plant("pendulum").spec)


def test_export_replaces_a_folder_as_a_whole(copy: Path) -> None:
    (copy / "leftover.onnx").write_text("old")
    export_checkpoint(make_checkpoint(ARCHITECTURES["paper"]), copy)
    assert not (copy / "leftover.onnx").exists()
    assert ContextModel.load(copy).manifest.variant == "gru"
    assert not [p for p in copy.parent.iterdir() if p.name.startswith(".")]


def test_providers(exported: Path) -> None:
    assert ContextModel.load(exported, SessionSettings(provider="auto")).provider.endswith(
        "ExecutionProvider"
    )
    with pytest.raises(ModelError, match=r"'cuda' was asked for.*requirements/gpu\.txt"):
        ContextModel.load(exported, SessionSettings(provider="cuda"))
    with pytest.raises(ModelError, match="unknown provider 'tpu'"):
        ContextModel.load(exported, SessionSettings(provider="tpu"))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_cuda_that_does_not_start_is_an_error(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a CUDA build of ONNX Runtime on a machine without a driver: it falls back and only prints."""
    monkeypatch.setattr(
        "onnxruntime.get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"]
    )
    with pytest.raises(ModelError, match="CUDA does not start"):
        ContextModel.load(exported, SessionSettings(provider="cuda"))
    assert ContextModel.load(exported, SessionSettings(provider="auto")).provider == "CPUExecutionProvider"


def test_bad_numbers_and_shapes_are_refused(exported: Path) -> None:
    model = ContextModel.load(exported, SessionSettings(provider="cpu"))
    good = np.zeros((2, 3)), np.zeros((2, 1)), np.zeros((2, 3))
    with pytest.raises(ValueError, match="state must have shape"):
        model.embed(np.zeros(3), *good[1:])
    with pytest.raises(ValueError, match="following holds a non-finite number"):
        model.embed(good[0], good[1], np.full((2, 3), np.inf))
    with pytest.raises(ValueError, match="actions must have shape"):
        model.predict(good[0], np.zeros((2, 4)), model.prior.mean)
    assert model.belief(np.zeros((0, 3)), np.zeros((0, 1)), np.zeros((0, 3))) is model.prior
