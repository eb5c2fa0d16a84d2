"""Maximum over windows, NHWC. Padding never wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.pool import pool_shape, window_axes, windows
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class MaxPool(Operator):
    name = "max_pool"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        return pool_shape(attributes, inputs[0])

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        lowest = TensorSpec((), str(inputs[0].dtype)).range[0]
        best: np.ndarray = windows(attributes, inputs[0], lowest).max(axis=0)
        return best

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops = Loops()
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with window_axes(loops, attributes, inputs[0], output) as place:
            best = loops.scalar("best", inputs[0].range[0])
            with place.taps(loops) as (iy, ix):
                best.set(tirx.max(best.value, i32(x[place.input(iy, ix)])))
            loops.store(y, place.output, best.value.astype(output.dtype))
        return loops.finish("max_pool")
