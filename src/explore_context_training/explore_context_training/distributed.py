"""One process, or one of several started by ``torchrun``: several GPUs or machines share each batch."""

from __future__ import annotations

import os
from collections.abc import Iterable

import torch

# Its functions take the process group that exists when it is imported as a default argument. PyTorch
# imports it with the first optimiser, and the group, kept alive by that, would end with the interpreter
# instead of in ``stop``: a thread of Gloo that holds a tensor at that time aborts the process.
import torch.distributed.nn
from torch import Tensor, distributed


class Processes:
    """This process's place among the others; alone, every call is free."""

    def __init__(self) -> None:
        self.number = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    @property
    def share(self) -> tuple[int, int]:
        return self.rank, self.number

    def device(self, wanted: str) -> torch.device:
        """The device of this process: with ``cuda``, the GPU of its local rank."""
        if wanted != "cuda":
            return torch.device(wanted)
        if not torch.cuda.is_available():
            raise RuntimeError("no CUDA device found; train on the CPU with --device cpu")
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))

    def start(self, device: torch.device) -> None:
        if self.number > 1:
            if device.type == "cuda":
                torch.cuda.set_device(device)
            # Gloo besides NCCL: the votes of ``any`` are CPU tensors.
            distributed.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")

    def stop(self) -> None:
        if self.number > 1:
            distributed.destroy_process_group()

    def average_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every gradient by its mean over the processes. A stage may leave parameters (variances)
        without one, in all processes alike.

        By hand: the model is small, and DistributedDataParallel would hold on to the process group.
        """
        if self.number == 1:
            return
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        together = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(together)
        means = (together / self.number).split([gradient.numel() for gradient in gradients])
        for gradient, mean in zip(gradients, means, strict=True):
            gradient.copy_(mean.view_as(gradient))

    def mean(self, value: Tensor) -> float:
        if self.number > 1:
            distributed.all_reduce(value)
            value = value / self.number
        return float(value)

    def any(self, flag: bool) -> bool:
        """True everywhere as soon as it is true somewhere, so that all processes stop after the same step."""
        if self.number == 1:
            return flag
        votes = torch.tensor(float(flag))
        distributed.all_reduce(votes)
        return bool(votes > 0)
