"""Element-wise function of 8-bit integers, as a table of its 256 results. Operands: x, table[256].

The first entry belongs to the smallest value of x's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class Lookup(Operator):
    name = "lookup"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(inputs[0].shape, inputs[1].dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, table = inputs
        first = TensorSpec((), str(x.dtype)).range[0]
        return np.asarray(table[x.astype(np.int64) - first])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, first = Loops(), inputs[0].range[0]
        flat = TensorSpec((output.elements,), inputs[0].dtype)
        x, table = loops.buffer("x", flat), loops.buffer("table", inputs[1])
        y = loops.buffer("y", TensorSpec(flat.shape, output.dtype))
        with over(loops, flat.shape) as (place,):
            index = i32(x[place])
            loops.store(y, [place], table[index - first if first else index])
        return loops.finish("lookup")
