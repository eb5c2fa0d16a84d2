"""Maximum over windows, NHWC. Padding never wins."""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.pool import pool_shape, window_axes, windows
from tvm_pulp.qnn.tensor_spec import RANGES
from tvm_pulp.qnn.tiles import POOL


@register("max_pool", attributes="dilation kernel layout pads strides", tile=POOL)
class MaxPool(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return pool_shape(attributes, inputs[0])

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        return np.asarray(windows(attributes, inputs[0], RANGES[str(inputs[0].dtype)][0]).max(axis=0))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with window_axes(loops, attributes, inputs[0], output) as place:
            best = loops.scalar("best", inputs[0].range[0])
            with place.taps(loops) as (iy, ix):
                best.set(tirx.max(best.value, i32(x[place.input(iy, ix)])))
            loops.store(y, place.output, best.value.astype(output.dtype))
