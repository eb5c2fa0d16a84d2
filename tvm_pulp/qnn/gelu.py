"""Integer GELU by a clipped second-order polynomial, requantized.

d = min(|x|, -b) + b;  L = sign(x) * (one - d*d);  y = x * ((one + L) >> 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import lower_elementwise
from tvm_pulp.qnn.loops import call
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Gelu(Operator):
    name = "gelu"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(inputs[0].shape, Requant.of(attributes).out_dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, b, one = inputs[0].astype(np.int64), attributes["b"], attributes["one"]
        d = np.minimum(np.abs(x), -b) + b
        gate = (one + np.sign(x) * (one - d * d)) >> 1
        return Requant.of(attributes).apply(x * gate, inputs[1:])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        b, one = attributes["b"], attributes["one"]
        return lower_elementwise(
            "gelu",
            [("x", inputs[0])],
            Requant.of(attributes),
            inputs[1:],
            output,
            lambda x: call("gelu", x, b, one),
        )
