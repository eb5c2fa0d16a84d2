"""Permutation of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Transpose(Operator):
    name = "transpose"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(tuple(inputs[0].shape[a] for a in attributes["axes"]), inputs[0].dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        return np.ascontiguousarray(inputs[0].transpose(attributes["axes"]))

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, axes = Loops(), attributes["axes"]
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            source = [indices[axes.index(axis)] for axis in range(len(axes))]
            loops.store(y, indices, x[tuple(source)])
        return loops.finish("transpose")
