"""Affine replacement of a normalization, element by element: clip(((x * weight + bias) * mul) // D).

Operands: x, weight (broadcast), bias (broadcast). D = 2^shift floors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import lower_elementwise
from tvm_pulp.qnn.loops import call, i64
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.rows import clip_levels, levels_dtype
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class NoNorm(Operator):
    name = "no_norm"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(inputs[0].shape, levels_dtype(attributes["levels"]))

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight, bias = (i.astype(np.int64) for i in inputs)
        value = ((x * weight + bias) * attributes["mul"]) >> attributes["shift"]
        return clip_levels(value, attributes["levels"]).astype(levels_dtype(attributes["levels"]))

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        levels, shift, mul = (attributes[k] for k in ("levels", "shift", "mul"))

        def compute(x: Any, weight: Any, bias: Any) -> Any:
            scaled = (i64(x) * i64(weight) + i64(bias)) * i64(mul)
            value = tirx.shift_right(scaled, i64(shift))
            return call("clip_wide", value, -(levels // 2), levels // 2 - 1).astype(output.dtype)

        data = list(zip(("x", "weight", "bias"), inputs, strict=True))
        return lower_elementwise("no_norm", data, Requant(), (), output, compute)
