"""Element-wise product of two tensors, zero points removed, requantized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.broadcast import broadcast_shape
from tvm_pulp.qnn.elementwise import lower_elementwise
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Mul(Operator):
    name = "mul"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(broadcast_shape(inputs[0].shape, inputs[1].shape), Requant.of(attributes).out_dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        a = inputs[0].astype(np.int64) - attributes["zero_point_a"]
        b = inputs[1].astype(np.int64) - attributes["zero_point_b"]
        return Requant.of(attributes).apply(a * b, inputs[2:])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        za, zb = attributes["zero_point_a"], attributes["zero_point_b"]
        data = [("a", inputs[0]), ("b", inputs[1])]
        return lower_elementwise(
            "mul",
            data,
            Requant.of(attributes),
            inputs[2:],
            output,
            lambda a, b: (a - za if za else a) * (b - zb if zb else b),
        )
