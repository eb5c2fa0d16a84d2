"""Requantization on its own: x scaled, shifted and clipped. Per-channel constants run along `axis`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import lower_elementwise
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Requantize(Operator):
    name = "requantize"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(inputs[0].shape, Requant.of(attributes).out_dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x = inputs[0].astype(np.int64) - attributes["zero_point"]
        return Requant.of(attributes).apply(x, inputs[1:], attributes["axis"])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        zero_point = attributes["zero_point"]
        return lower_elementwise(
            "requantize",
            [("x", inputs[0])],
            Requant.of(attributes),
            inputs[1:],
            output,
            lambda x: x - zero_point if zero_point else x,
            attributes["axis"],
        )
