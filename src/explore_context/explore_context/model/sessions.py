"""ONNX Runtime sessions set up for a robot: few threads, no spinning, no denormals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import onnxruntime as ort

from explore_context.model.manifest import ModelError

Provider = Literal["cpu", "cuda", "auto"]
PROVIDERS: tuple[Provider, ...] = ("cpu", "cuda", "auto")


@dataclass(frozen=True)
class SessionSettings:
    """``threads``: intra-op threads; more than one pays only for large batches. ``spinning``: workers
    burn a core while they wait.
    """

    provider: Provider = "auto"
    threads: int = 1
    spinning: bool = False
    denormals_as_zero: bool = True


def resolve_provider(wanted: Provider) -> str:
    """The ONNX Runtime provider for ``cpu | cuda | auto``; asking for CUDA where there is none is an
    error.
    """
    if wanted not in PROVIDERS:
        raise ModelError(f"unknown provider {wanted!r}; choose one of {', '.join(PROVIDERS)}")
    has_cuda = "CUDAExecutionProvider" in ort.get_available_providers()
    if wanted == "cuda" and not has_cuda:
        raise ModelError(
            "provider 'cuda' was asked for, but this onnxruntime has no CUDA; "
            "install requirements/gpu.txt or choose provider 'cpu' or 'auto'"
        )
    return "CUDAExecutionProvider" if has_cuda and wanted != "cpu" else "CPUExecutionProvider"


def open_session(path: Path, settings: SessionSettings) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(settings.spinning)))
    options.add_session_config_entry("session.set_denormal_as_zero", str(int(settings.denormals_as_zero)))
    options.log_severity_level = 3
    provider = resolve_provider(settings.provider)
    try:
        session = ort.InferenceSession(str(path), options, providers=[provider])
    except Exception as error:  # onnxruntime raises a dozen types of its own for a bad file
        raise ModelError(f"{path}: ONNX Runtime cannot load it ({error}); export the model again") from error
    # Where CUDA is compiled in but does not start (no driver, no device), ONNX Runtime falls back to the CPU.
    if settings.provider == "cuda" and provider not in session.get_providers():
        raise ModelError(
            "provider 'cuda' was asked for, but CUDA does not start on this machine (driver, device or "
            "libraries missing); mend that or choose provider 'cpu' or 'auto'"
        )
    return session
