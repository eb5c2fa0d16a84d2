"""Average over windows, NHWC. Padding does not count.

Without requantization the average keeps the input's scale, is rounded half away from zero as TFLite's reference kernel
does, and clipped to `low`..`high`. With it, the sum of the values less `zero_point` is requantized; the tensors then
hold one element, or one per number of values in a window (0 to all), because windows at a border are smaller. Where
padding counts as zeros, one element says so.
"""

import numpy as np

from tvm_pulp.qnn.operator import (
    Arrays,
    Attributes,
    Loops,
    Operator,
    Requant,
    Specs,
    TensorSpec,
    call,
    i32,
    less,
    register,
)
from tvm_pulp.qnn.pool import pool_shape, window_axes, windows
from tvm_pulp.qnn.tiles import POOL


@register("avg_pool", attributes="dilation high kernel layout low pads strides zero_point requant*", tile=POOL)
class AvgPool(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        pooled, rule = pool_shape(attributes, inputs[0]), Requant.of(attributes)
        return pooled if rule.kind == "none" else TensorSpec(pooled.shape, rule.out_dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, rule = inputs[0].astype(np.int64), Requant.of(attributes)
        count = windows(attributes, np.ones_like(x), 0).sum(axis=0)
        if rule.kind != "none":
            total = windows(attributes, x - attributes["zero_point"], 0).sum(axis=0)
            # One requantization per element: the tensors are picked by the number of values, then applied flat.
            picked = [np.broadcast_to(o if o.size == 1 else o[count], total.shape).reshape(-1) for o in inputs[1:]]
            return rule.apply(total.reshape(-1), picked).reshape(total.shape)
        total = windows(attributes, x, 0).sum(axis=0)
        average = np.sign(total) * ((np.abs(total) + count // 2) // count)
        return np.clip(average, attributes["low"], attributes["high"]).astype(inputs[0].dtype)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        rule = Requant.of(attributes)
        x, *tensors = loops.buffers("x mul add", inputs)
        y = loops.buffer("y", output)
        zero_point = attributes["zero_point"] if rule.kind != "none" else 0
        counted = rule.kind == "none" or any(t.elements > 1 for t in inputs[1:])
        with window_axes(loops, attributes, inputs[0], output) as place:
            total = loops.scalar("total", 0)
            count = loops.scalar("count", 0) if counted else None
            with place.taps(loops) as (iy, ix):
                total.set(total.value + less(i32(x[place.input(iy, ix)]), zero_point))
                if count is not None:
                    count.set(count.value + 1)
            if rule.kind == "none" and count is not None:
                average = call("round_divide_32", total.value, count.value)
                result = call("clip", average, attributes["low"], attributes["high"]).astype(output.dtype)
            else:
                result = rule.expression(total.value, tensors, count.value if count is not None else i32(0))
            loops.store(y, place.output, result)
