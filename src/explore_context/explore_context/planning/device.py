"""Planner graphs with all tensors on the device: candidates, scores and elites never travel, only noise goes
in and a plan comes out.

One iteration of the paper's search is three calls with I/O binding: ``candidates`` (mean, std, noise ->
candidates), ``gain``, ``refit`` (elites -> mean, std). Chosen where the model runs under CUDA; the same code
with the device "cpu" gives the numbers of the plain path and is tested that way.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from explore_context.model import ContextModel
from explore_context.planning.plan import Floats, PlanningError

CUDA = "CUDAExecutionProvider"


class DeviceRunner:
    """What ``BlockRunner`` is for a CPU: here one call for all candidates."""

    def __init__(self, model: ContextModel, graph: str, device: str = "cuda") -> None:
        self.model, self.device = model, device
        self._session = model.session(graph)

    def run(self, fixed: Mapping[str, Floats], actions: Floats) -> Floats:
        """First output of the graph for all candidates, (K, ...)."""
        values = {name: _place(value, self.device) for name, value in fixed.items()}
        values["actions"] = _place(actions, self.device)
        output: Floats = _call(self._session, values, self.device)[0].numpy()
        return output


class DeviceSearch:
    """``cem.HostSearch`` on a device: mean and std (H, U) stay there from one iteration to the next."""

    def __init__(
        self,
        runner: DeviceRunner,
        fixed: Mapping[str, Floats],
        mean: Floats,
        std: Floats,
        bounds: tuple[Floats, Floats],
        elites: int,
    ) -> None:
        self._device = runner.device
        self._candidates, self._gain, self._refit = (
            runner.model.session(name) for name in ("candidates", "gain", "refit")
        )
        self._fixed = {name: _place(value, self._device) for name, value in fixed.items()}
        self._bounds = {
            "low": _place(bounds[0], self._device),
            "high": _place(bounds[1], self._device),
        }
        self._fitted = [_place(mean, self._device), _place(std, self._device)]
        self._elites = ort.OrtValue.ortvalue_from_numpy(np.array([elites], np.int64))

    def iterate(self, noise: Floats) -> None:
        """Sample with ``noise`` (K, H, U), score, refit."""
        mean, std = self._fitted
        drawn = {"mean": mean, "std": std, "noise": _place(noise, self._device), **self._bounds}
        candidates = _call(self._candidates, drawn, self._device)[0]
        gain = _call(self._gain, {**self._fixed, "actions": candidates}, self._device)[0]
        scored = {"candidates": candidates, "gain": gain, "elites": self._elites}
        self._fitted = _call(self._refit, scored, self._device)

    @property
    def mean(self) -> Floats:
        """Brought back from the device."""
        mean: Floats = self._fitted[0].numpy()
        if not np.isfinite(mean).all():
            raise PlanningError("all candidates have a non-finite score: the model's predictions are broken")
        return mean


def _place(array: NDArray[np.floating], device: str) -> ort.OrtValue:
    return ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array, np.float32), device, 0)


def _call(
    session: ort.InferenceSession, inputs: Mapping[str, ort.OrtValue], device: str
) -> list[ort.OrtValue]:
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_ortvalue_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name, device)
    session.run_with_iobinding(binding)
    values: list[ort.OrtValue] = binding.get_outputs()
    return values
