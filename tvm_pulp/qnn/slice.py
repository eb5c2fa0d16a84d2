"""Strided slice of every axis: `begin`, `stride` and `size` per axis; a stride may be negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Slice(Operator):
    name = "slice"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(tuple(attributes["size"]), inputs[0].dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        picks = [
            begin + stride * np.arange(size)
            for begin, stride, size in zip(attributes["begin"], attributes["stride"], attributes["size"], strict=True)
        ]
        return inputs[0][np.ix_(*picks)]

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops = Loops()
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            source = [
                index * stride + begin
                for index, begin, stride in zip(indices, attributes["begin"], attributes["stride"], strict=True)
            ]
            loops.store(y, indices, x[tuple(source)])
        return loops.finish("slice")
