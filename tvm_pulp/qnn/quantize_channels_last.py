"""Floats as integers, the second axis moved behind all others: what a picture of a framework becomes at once.

Operands: x, scale, 1 / scale, zero_point, each of the last three one element; all as in `quantize`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.quantize import along_axis, quantized, quantizing
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class QuantizeChannelsLast(Operator):
    name = "quantize_channels_last"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        shape = inputs[0].shape
        return TensorSpec((shape[0], *shape[2:], shape[1]), attributes["dtype"])

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, scale, _, zero_point = along_axis(inputs, 0)
        return np.ascontiguousarray(np.moveaxis(quantized(x, scale, zero_point, attributes["dtype"]), 1, -1))

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops = Loops()
        x = loops.buffer("x", inputs[0])
        names = ("scale", "reciprocal", "zero")
        parameters = [loops.buffer(n, TensorSpec((1,), s.dtype)) for n, s in zip(names, inputs[1:], strict=True)]
        y = loops.buffer("y", output)
        element = quantizing(loops, [loops.bind(n, p[0]) for n, p in zip(names, parameters, strict=True)], output)
        with over(loops, output.shape) as indices:
            source = [indices[0], indices[-1], *indices[1:-1]]
            loops.store(y, indices, element(x[tuple(source)]))
        return loops.finish("quantize_channels_last")
