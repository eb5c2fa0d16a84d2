"""Selection of constant indices along one axis; `scalar` drops the axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Gather(Operator):
    name = "gather"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        shape, axis = inputs[0].shape, attributes["axis"]
        return TensorSpec((*shape[:axis], *inputs[1].shape, *shape[axis + 1 :]), inputs[0].dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        return np.take(inputs[0], inputs[1].astype(np.int64), axis=attributes["axis"])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, axis, rank = Loops(), attributes["axis"], len(inputs[1].shape)
        x, pick, y = loops.buffer("x", inputs[0]), loops.buffer("indices", inputs[1]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            place = i32(pick[tuple(indices[axis : axis + rank]) or (i32(0),)])
            loops.store(y, indices, x[(*indices[:axis], place, *indices[axis + rank :])])
        return loops.finish("gather")
