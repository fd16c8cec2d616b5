"""Training as a user runs it: smoke, resume, signals, failures, several processes. Tiny models, real loop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml

from explore_context_training.checkpoint import Checkpoint, CheckpointError
from explore_context_training.distributed import Processes
from explore_context_training.export.exporter import export_checkpoint
from explore_context_training.paths import training_config, workspace
from explore_context_training.reporting import Reporter
from explore_context_training.settings import load_settings
from explore_context_training.training import Run, Trainer, TrainingFailure, smoke

# Several interpreters that each import torch: seconds on an idle machine, minutes on a busy one.
pytestmark = pytest.mark.timeout(400)

TRAIN = [sys.executable, str(workspace() / "train.py")]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def tiny_run(folder: Path, seed: int = 0, plant: str = "pendulum") -> Run:
    settings = smoke(load_settings(training_config(plant), "cpu"))
    model = replace(settings.model, hidden=32, embedding=32, encoder_hidden=(32,))
    return Run(plant, "cpu", replace(settings, model=model), seed, folder, validate_every=5)


def weights(trainer: Trainer) -> list[torch.Tensor]:
    return list(trainer.model.state_dict().values())


def test_same_seed_same_weights_bit_for_bit_and_resume_changes_nothing(tmp_path: Path) -> None:
    whole, interrupted = (Trainer(tiny_run(tmp_path / name), Processes()) for name in ("a", "b"))
    losses = [whole.train_step()["loss"] for _ in range(10)]
    assert losses[:4] == [interrupted.train_step()["loss"] for _ in range(4)]
    interrupted.save()
    loaded = Checkpoint.load(interrupted.run.checkpoint_path)
    resumed = Trainer(interrupted.run, Processes(), loaded)
    assert resumed.step == 4 and resumed.last_errors == loaded.record.validation
    assert losses[4:] == [resumed.train_step()["loss"] for _ in range(6)]
    for one, other in zip(weights(whole), weights(resumed), strict=True):
        assert torch.equal(one, other)
    different = Trainer(tiny_run(tmp_path / "c", seed=1), Processes())
    assert different.train_step()["loss"] != losses[0]


def test_a_run_leaves_checkpoint_curve_and_tensorboard(tmp_path: Path) -> None:
    run = tiny_run(tmp_path)
    trainer = Trainer(run, Processes())
    with Reporter(tmp_path, 0, run.settings.steps, "test") as reporter:
        assert trainer.train(reporter)
    lines = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    last = run.settings.steps
    assert [line["step"] for line in lines] == [*range(5, last, 5), last]
    assert {"loss", "mse_1", "mse_1_without_context", "entropy"} <= set(lines[0])
    assert list((tmp_path / "tensorboard").iterdir())
    record = Checkpoint.load(run.checkpoint_path).record
    assert (record.plant, record.step, record.recipe) == ("pendulum", last, "cpu")
    assert record.validation["mse_1"] > 0


def test_curve_of_a_resumed_run_has_every_step_once(tmp_path: Path) -> None:
    curve = tmp_path / "curve.jsonl"
    curve.write_text("".join(json.dumps({"step": s, "seconds": 2.0 * s}) + "\n" for s in (5, 10, 15)))
    with Reporter(tmp_path, 10, 20, "test", earlier_seconds=100.0) as reporter:
        reporter.step(15, {"loss": 1.0}, {"mse_1": 0.5, "mse_10": 0.5, "mse_1_without_context": 1.0})
    lines = [json.loads(line) for line in curve.read_text().splitlines()]
    assert [line["step"] for line in lines] == [5, 10, 15] and lines[-1]["seconds"] >= 100.0
    with Reporter(tmp_path, 0, 20, "test"):
        pass
    assert curve.read_text() == ""


def test_non_finite_loss_stops_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    trainer = Trainer(tiny_run(tmp_path), Processes())
    trainer.train_step()
    trainer.save()
    before = trainer.run.checkpoint_path.read_bytes()
    with torch.no_grad():
        next(iter(trainer.model.parameters())).fill_(float("nan"))
    with pytest.raises(TrainingFailure, match=r"step 1 is nan.*checkpoint\.safetensors.*--resume"):
        trainer.train_step()
    assert trainer.run.checkpoint_path.read_bytes() == before


def test_non_finite_gradient_never_reaches_the_weights(tmp_path: Path) -> None:
    trainer = Trainer(tiny_run(tmp_path), Processes())
    parameter = next(iter(trainer.model.parameters()))
    parameter.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(TrainingFailure, match=r"gradient of step 0 is .*no checkpoint was written yet"):
        trainer.train_step()
    assert all(torch.isfinite(p).all() for p in trainer.model.parameters())


def test_checkpoint_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such checkpoint; train one"):
        Checkpoint.load(tmp_path / "none.safetensors")
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"not a checkpoint")
    with pytest.raises(CheckpointError, match=r"damaged\.safetensors: unreadable"):
        Checkpoint.load(damaged)


def run_train(
    *arguments: str, runs: Path, timeout: float = 200.0, **extra: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "EXPLORE_CONTEXT_RUNS": str(runs), "OMP_NUM_THREADS": "1", **extra}
    return subprocess.run(
        [*TRAIN, *arguments], capture_output=True, text=True, env=environment, timeout=timeout, check=False
    )


def test_smoke_trains_in_seconds(tmp_path: Path) -> None:
    done = run_train("toy_inner", "--smoke", "--threads", "1", runs=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "toy_inner cpu seed 0: finished" in done.stdout


def test_bad_arguments_get_one_sentence(tmp_path: Path) -> None:
    for arguments, sentence in {
        ("unicycle",): "unknown plant 'unicycle'",
        ("pendulum", "--recipe", "tpu"): "no recipe 'tpu'",
        ("pendulum", "--resume"): "no such checkpoint",
        ("pendulum", "--device", "cuda"): "no CUDA device",
    }.items():
        done = run_train(*arguments, runs=tmp_path)
        assert done.returncode == 1 and sentence in done.stderr and "Traceback" not in done.stderr


def test_interrupt_saves_and_resume_finishes(tmp_path: Path) -> None:
    recipe = yaml.safe_load(training_config("toy_inner").read_text())["cpu"]
    recipe["stages"] = [{"steps": 400, "batch": 8, "chunk": 4, "context": 3}]
    recipe["data"] = {"pairs": 40, "blocks": 2}
    config = tmp_path / "settings.yaml"
    config.write_text(yaml.safe_dump({"cpu": recipe}))
    environment = {**os.environ, "EXPLORE_CONTEXT_RUNS": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [*TRAIN, "toy_inner", "--config", str(config), "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    seen = b""
    while b"/400 [" not in seen or b"loss" not in seen:  # a drawn bar with a loss: the loop is running
        piece = os.read(process.stderr.fileno(), 4096)
        assert piece, "train.py ended before it was interrupted"
        seen += piece
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 0
    checkpoint = Checkpoint.load(tmp_path / "toy_inner-cpu-0" / "checkpoint.safetensors")
    if checkpoint.record.step < 400:
        assert b"go on with --resume" in out
    refused = run_train("toy_inner", "--config", str(config), runs=tmp_path)
    assert refused.returncode == 1 and "--resume" in refused.stderr
    done = run_train("toy_inner", "--config", str(config), "--resume", "--threads", "1", runs=tmp_path)
    assert done.returncode == 0 and "finished" in done.stdout, done.stderr


def test_two_processes_compute_what_one_does_with_the_same_batch(tmp_path: Path) -> None:
    """torchrun with two CPU processes: the averaged loss of every step is that of one process with the
    whole (doubled) batch.
    """
    script = tmp_path / "steps.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nimport torch\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from test_training_loop import Processes, Trainer, tiny_run\n"
        "torch.set_num_threads(1)\n"
        "p = Processes(); p.start(torch.device('cpu'))\n"
        "t = Trainer(tiny_run(Path(sys.argv[1])), p)\n"
        "losses = [t.train_step()['loss'] for _ in range(8)]\n"
        "if p.is_first: print('LOSSES', losses)\n"
        "p.stop()\n"
        # A thread of Gloo that outlives the process group may abort the process when the interpreter ends.
        "names = [task.read_text() for task in Path('/proc/self/task').glob('*/comm')]\n"
        "assert not [name for name in names if 'gloo' in name], names\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [*command, str(script), str(tmp_path), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    parallel = json.loads(done.stdout.split("LOSSES", 1)[1])
    alone = Trainer(tiny_run(tmp_path), Processes())
    assert parallel == pytest.approx([alone.train_step()["loss"] for _ in range(8)], rel=2e-3)


def test_torchrun_of_the_training_script(tmp_path: Path) -> None:
    """The documented call: every process ends, one of them reports and saves."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, TRAIN[-1], "toy_inner", "--smoke", "--threads", "1"],
        capture_output=True,
        text=True,
        env={**os.environ, "EXPLORE_CONTEXT_RUNS": str(tmp_path), "OMP_NUM_THREADS": "1"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("toy_inner cpu seed 0: finished") == 1


def test_training_learns_and_exports(tmp_path: Path) -> None:
    """A short real training on the toy system lowers the one-step error and its export loads."""
    from explore_context.model import ContextModel

    settings = load_settings(training_config("toy_inner"), "cpu")
    stage = replace(settings.stages[0], steps=150, batch=64, chunk=(4, 4))
    settings = replace(settings, stages=(stage,), data=replace(settings.data, pairs=400, blocks=2))
    trainer = Trainer(Run("toy_inner", "cpu", settings, 0, tmp_path / "run"), Processes())
    before = trainer.validation.errors(trainer.model)["mse_1"]
    for _ in range(150):
        trainer.train_step()
    assert trainer.validation.errors(trainer.model)["mse_1"] < 0.5 * before
    manifest = export_checkpoint(trainer.checkpoint(), tmp_path / "toy_inner")
    model = ContextModel.load(tmp_path / "toy_inner")
    assert model.model_hash == manifest.model_hash and model.prior.entropy == pytest.approx(1.4189, abs=1e-3)
