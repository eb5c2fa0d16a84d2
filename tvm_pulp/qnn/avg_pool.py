"""Average over windows, NHWC, rounded half away from zero as TFLite's reference kernel does, then clipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.pool import pool_shape, window_axes, windows
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class AvgPool(Operator):
    name = "avg_pool"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return pool_shape(attributes, inputs[0])

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x = inputs[0].astype(np.int64)
        total = windows(attributes, x, 0).sum(axis=0)
        count = windows(attributes, np.ones_like(x), 0).sum(axis=0)
        average = np.sign(total) * ((np.abs(total) + count // 2) // count)
        return np.clip(average, attributes["low"], attributes["high"]).astype(inputs[0].dtype)

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops = Loops()
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with window_axes(loops, attributes, inputs[0], output) as place:
            total, count = loops.scalar("total", 0), loops.scalar("count", 0)
            with place.taps(loops) as (iy, ix):
                total.set(total.value + i32(x[place.input(iy, ix)]))
                count.set(count.value + 1)
            average = call("round_divide_32", total.value, count.value)
            value = call("clip", average, attributes["low"], attributes["high"])
            loops.store(y, place.output, value.astype(output.dtype))
        return loops.finish("avg_pool")
