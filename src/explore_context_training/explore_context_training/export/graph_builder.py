"""A small writer of ONNX graphs: names are made up, weights become initialisers, the result is checked.

Graphs are written by hand instead of traced: the planner's graphs share partial products and loop over a
dynamic horizon (``Scan``), which a
tracer would unroll, and what stands in the file is exactly what runs on the robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
Shape = Sequence[int | str]


class GraphBuilder:
    """Collects nodes; every method returns the name of the value that it adds."""

    def __init__(self, name: str, prefix: str = "") -> None:
        self._name, self._prefix = name, prefix
        self._nodes: list[onnx.NodeProto] = []
        self._initialisers: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._count = 0

    def input(self, name: str, shape: Shape, kind: int = TensorProto.FLOAT) -> str:
        self._inputs.append(helper.make_tensor_value_info(self._prefix + name, kind, shape))
        return self._prefix + name

    def constant(self, value: NDArray[Any] | Sequence[float] | float, hint: str = "constant") -> str:
        array = np.asarray(value)
        if array.dtype != np.int64:
            array = array.astype(np.float32)
        name = self._new_name(hint)
        self._initialisers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def integers(self, *values: int) -> str:
        """A one-dimensional int64 constant: shapes, axes, indices."""
        return self.constant(np.array(values, dtype=np.int64), "integers")

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output."""
        return self.ops(kind, inputs, 1, **attributes)[0]

    def ops(self, kind: str, inputs: Sequence[str], outputs: int, **attributes: Any) -> list[str]:
        """Add a node with several outputs."""
        names = [self._new_name(kind.lower()) for _ in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def output(self, value: str, name: str, shape: Shape) -> str:
        """Declare ``value`` as output ``name``."""
        self._nodes.append(helper.make_node("Identity", [value], [self._prefix + name]))
        self._outputs.append(helper.make_tensor_value_info(self._prefix + name, TensorProto.FLOAT, shape))
        return self._prefix + name

    def scan(
        self, body: GraphBuilder, states: Sequence[str], scanned: Sequence[str], outputs: int, axis: int = 1
    ) -> list[str]:
        """Loop ``body`` along ``axis`` of the scanned values; returns final states, then stacked outputs
        (same axis).
        """
        # An empty list has no type in ONNX; without scan outputs the attribute is left away.
        output_axes = {"scan_output_axes": [axis] * outputs} if outputs else {}
        return self.ops(
            "Scan",
            [*states, *scanned],
            len(states) + outputs,
            body=body.graph(),
            num_scan_inputs=len(scanned),
            scan_input_axes=[axis] * len(scanned),
            **output_axes,
        )

    def graph(self) -> onnx.GraphProto:
        return helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, self._initialisers)

    def model(self) -> onnx.ModelProto:
        model = helper.make_model(
            self.graph(),
            producer_name="explore_context",
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        onnx.checker.check_model(model, full_check=True)
        return model

    def _new_name(self, hint: str) -> str:
        self._count += 1
        return f"{self._prefix}{hint}_{self._count}"
