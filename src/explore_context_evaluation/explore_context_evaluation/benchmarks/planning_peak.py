"""What this machine can do: the fastest matrix product that any library at hand reaches."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch

from explore_context_training.export.graph_builder import GraphBuilder

_ROUNDS = 7
_WORK = 4e8  # floating-point operations per measurement and thread


def matrix_product_peak(threads: int) -> float:
    """Largest GFLOP/s of single-precision products: ONNX Runtime (one product per thread) and PyTorch."""
    shapes = ((512, 512, 512), (512, 128, 128), (256, 256, 256))
    runtime = max(_runtime_speed(shape, threads) for shape in shapes)
    return max(runtime, *(_torch_speed(size, threads) for size in (512, 1024)))


def loop_flops(graph: Path) -> int:
    """Floating-point operations of the products in the loop of a planner graph, per row and step."""
    body = next(node for node in onnx.load(str(graph)).graph.node if node.op_type == "Scan").attribute
    loop = next(attribute.g for attribute in body if attribute.name == "body")
    shapes = {tensor.name: tuple(tensor.dims) for tensor in loop.initializer}
    return sum(2 * int(np.prod(shapes[node.input[1]])) for node in loop.node if node.op_type == "Gemm")


def _runtime_speed(shape: tuple[int, int, int], threads: int) -> float:
    m, k, n = shape
    g = GraphBuilder("product")
    rng = np.random.default_rng(0)
    weight = g.constant(rng.standard_normal((k, n)))
    g.output(g.op("Gemm", g.input("x", [m, k]), weight), "y", [m, n])
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(g.model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    x = ort.OrtValue.ortvalue_from_numpy(rng.standard_normal((m, k)).astype(np.float32))
    repeats = max(1, round(_WORK / (2 * m * k * n)))

    def work() -> None:
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", x)
        binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(np.empty((m, n), np.float32)))
        for _ in range(repeats):
            session.run_with_iobinding(binding)

    with ThreadPoolExecutor(threads) as pool:
        seconds = _fastest(lambda: [f.result() for f in [pool.submit(work) for _ in range(threads)]])
    return threads * repeats * 2e-9 * m * k * n / seconds


def _torch_speed(size: int, threads: int) -> float:
    torch.set_num_threads(threads)
    a, b = torch.randn(size, size), torch.randn(size, size)
    out = torch.empty(size, size)
    repeats = max(1, round(threads * _WORK / (2 * size**3)))
    seconds = _fastest(lambda: [torch.mm(a, b, out=out) for _ in range(repeats)])
    return repeats * 2e-9 * size**3 / seconds


def _fastest(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times[1:])
