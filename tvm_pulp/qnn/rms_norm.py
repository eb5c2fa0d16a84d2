"""Integer RMS normalization of rows: clip((x * weight / isqrt(mean(x^2) + 1)) // D).

Operands: x[..., n], weight[n]. The product is truncated towards zero when divided by the root, floored by D = 2^shift.
"""

from __future__ import annotations

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import call, i32, i64
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.rows import as_rows, clip_levels, integer_sqrt, levels_dtype, sum_of_squares, truncate_divide
from tvm_pulp.qnn.tiles import BY_ROW


@register("rms_norm", attributes="levels shift wide", operands="x weight", tile=BY_ROW)
class RmsNorm(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(inputs[0].shape, levels_dtype(attributes["levels"]))

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, weight = (i.astype(np.int64) for i in inputs)
        root = integer_sqrt((x * x).sum(-1, keepdims=True) // x.shape[-1] + 1)
        value = truncate_divide(x * weight, root) >> attributes["shift"]
        return clip_levels(value, attributes["levels"]).astype(levels_dtype(attributes["levels"]))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        levels, length = attributes["levels"], inputs[0].shape[-1]
        x, weight = loops.buffer("x", as_rows(inputs[0])), loops.buffer("weight", inputs[1])
        y = loops.buffer("y", as_rows(output))
        wide, clip = (i64, "clip_wide") if attributes["wide"] else (i32, "clip")
        with loops.parallel("row", output.elements // length) as row:
            mean = tirx.truncdiv(sum_of_squares(loops, x, row, length), i32(length)) + 1
            root = loops.bind("root", call("isqrt", mean))
            with loops.loop("i", length) as i:
                quotient = tirx.truncdiv(wide(x[row, i]) * wide(weight[i]), wide(root))
                value = tirx.shift_right(quotient, wide(attributes["shift"]))
                clipped = call(clip, value, -(levels // 2), levels // 2 - 1)
                loops.store(y, [row, i], clipped.astype(output.dtype))
