"""Element-wise product of two 8-bit tensors of a quantize/dequantize graph, single precision inside.

y = round((a - zero_point_a) * (b - zero_point_b) * scale), from low to high, plus zero_point
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.broadcast import broadcast_index, broadcast_shape
from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.real import round_within
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class QdqMul(Operator):
    name = "qdq_mul"
    single_precision = True

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(broadcast_shape(inputs[0].shape, inputs[1].shape), attributes["dtype"])

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        a, b = (x.astype(np.int64) - attributes[f"zero_point_{n}"] for n, x in zip("ab", inputs, strict=True))
        value = (a * b).astype(np.float32) * np.float32(attributes["scale"])
        rounded = round_within(value, attributes["low"], attributes["high"]) + attributes["zero_point"]
        return np.asarray(rounded.astype(attributes["dtype"]))

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops = Loops()
        if all(spec.shape == output.shape for spec in inputs):
            # Every operand is read in the order it is stored: one flat loop.
            output = TensorSpec((output.elements,), output.dtype)
            inputs = [TensorSpec(output.shape, spec.dtype) for spec in inputs]
        data = [(n, spec, loops.buffer(n, spec)) for n, spec in zip("ab", inputs, strict=True)]
        y = loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            a, b = (
                i32(buffer[tuple(broadcast_index(spec.shape, indices))]) - attributes[f"zero_point_{n}"]
                for n, spec, buffer in data
            )
            value = (a * b).astype("float32") * tirx.const(attributes["scale"], "float32")
            rounded = call("round_within", value, attributes["low"], attributes["high"]) + attributes["zero_point"]
            loops.store(y, indices, rounded.astype(output.dtype))
        return loops.finish("qdq_mul")
