"""Softmax of floats along the last axis: exp(x - max) / sum of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.float_rows import each, extreme
from tvm_pulp.qnn.loops import Loops, call
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class FloatSoftmax(Operator):
    name = "float_softmax"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return TensorSpec(inputs[0].shape, "float32")

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x = inputs[0].astype(np.float64)
        with np.errstate(invalid="ignore"):
            weights = np.exp(x - x.max(-1, keepdims=True))
            return np.asarray((weights / weights.sum(-1, keepdims=True)).astype(np.float32))

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, length = Loops(), inputs[0].shape[-1]
        x = loops.buffer("x", TensorSpec((output.elements,), "float32"))
        y = loops.buffer("y", TensorSpec((output.elements,), "float32"))
        with loops.parallel("row", output.elements // length) as row:
            first = loops.bind("first", row * length)
            largest = extreme(loops, "largest", length, lambda at: x[first + at], "fmax")
            sum_of = loops.scalar("sum", 0, "float32")

            def weigh(at: Any) -> None:
                weight = loops.bind("weight", call("exp_below", x[first + at] - largest, dtype="float32"))
                loops.store(y, [first + at], weight)
                sum_of.set(sum_of.value + weight)

            each(loops, length, weigh)
            factor = loops.bind("factor", call("divide", tirx.const(1, "float32"), sum_of.value, dtype="float32"))
            each(loops, length, lambda at: loops.store(y, [first + at], y[first + at] * factor))
        return loops.finish("float_softmax")
