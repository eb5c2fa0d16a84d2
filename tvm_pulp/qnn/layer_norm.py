"""Integer layer normalization of rows: clip((d * weight / isqrt(mean(d^2) + 1) + bias) // D), d = x - mean(x).

Operands: x[..., n], weight[n], bias[n]. The mean is truncated, not rounded; D = 2^shift floors.
"""

from __future__ import annotations

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import call, i32, i64
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.rows import as_rows, clip_levels, integer_sqrt, levels_dtype, sum_of_squares, truncate_divide
from tvm_pulp.qnn.tiles import BY_ROW


@register("layer_norm", attributes="levels shift wide", operands="x weight bias", tile=BY_ROW)
class LayerNorm(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(inputs[0].shape, levels_dtype(attributes["levels"]))

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, weight, bias = (i.astype(np.int64) for i in inputs)
        n = x.shape[-1]
        d = x - truncate_divide(x.sum(-1, keepdims=True), n)
        root = integer_sqrt((d * d).sum(-1, keepdims=True) // n + 1)
        value = (truncate_divide(d * weight, root) + bias) >> attributes["shift"]
        return clip_levels(value, attributes["levels"]).astype(levels_dtype(attributes["levels"]))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        levels, length = attributes["levels"], inputs[0].shape[-1]
        x = loops.buffer("x", as_rows(inputs[0]))
        weight, bias = loops.buffer("weight", inputs[1]), loops.buffer("bias", inputs[2])
        y = loops.buffer("y", as_rows(output))
        wide, clip = (i64, "clip_wide") if attributes["wide"] else (i32, "clip")
        with loops.parallel("row", output.elements // length) as row:
            total = loops.scalar("total", 0)
            with loops.loop("i", length) as i:
                total.set(total.value + i32(x[row, i]))
            mean = loops.bind("mean", tirx.truncdiv(total.value, i32(length)))
            variance = tirx.truncdiv(sum_of_squares(loops, x, row, length, mean), i32(length)) + 1
            root = loops.bind("root", call("isqrt", variance))
            with loops.loop("i", length) as i:
                quotient = tirx.truncdiv((wide(x[row, i]) - wide(mean)) * wide(weight[i]), wide(root))
                value = tirx.shift_right(quotient + wide(bias[i]), wide(attributes["shift"]))
                clipped = call(clip, value, -(levels // 2), levels // 2 - 1)
                loops.store(y, [row, i], clipped.astype(output.dtype))
