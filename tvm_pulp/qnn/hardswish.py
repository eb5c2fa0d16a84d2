"""Integer hardswish: `x * (clip(x + three, 0, six) * one_over_six)`, requantized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import lower_elementwise
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Hardswish(Operator):
    name = "hardswish"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(inputs[0].shape, Requant.of(attributes).out_dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x = inputs[0].astype(np.int64)
        gate = np.clip(x + attributes["three"], 0, attributes["six"]) * attributes["one_over_six"]
        return Requant.of(attributes).apply(x * gate, inputs[1:])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        three, six, sixth = (attributes[k] for k in ("three", "six", "one_over_six"))

        def compute(x: Any) -> Any:
            return x * (tirx.min(tirx.max(x + three, 0), six) * sixth)

        return lower_elementwise("hardswish", [("x", inputs[0])], Requant.of(attributes), inputs[1:], output, compute)
