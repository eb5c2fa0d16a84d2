"""Normalization of rows of floats: (x - mean) / sqrt(variance + epsilon) * weight + bias, the row `count` elements.

`kind`: layer, or rms (the mean counts as zero, and there is no bias). Operands: x, weight[count][, bias[count]].
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.float_rows import each, mean_of, total
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, register
from tvm_pulp.qnn.tiles import BY_ROW
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class FloatNormAttributes(Attributes):
    """`kind` is layer or rms."""

    epsilon: float
    kind: str


@register("float_norm", attributes=FloatNormAttributes, operands="x weight bias", tile=BY_ROW, result="float32")
class FloatNorm(Operator[FloatNormAttributes]):
    def reference(self, attributes: FloatNormAttributes, inputs: Arrays) -> np.ndarray:
        x, weight, *bias = (i.astype(np.float64) for i in inputs)
        rows = x.reshape(-1, weight.size)
        if attributes.kind == "layer":
            rows = rows - rows.mean(-1, keepdims=True)
        y = rows / np.sqrt((rows * rows).mean(-1, keepdims=True) + attributes.epsilon) * weight.reshape(-1)
        y = y + bias[0].reshape(-1) if bias else y
        return np.asarray(y.reshape(x.shape).astype(np.float32))

    def body(self, loops: Loops, attributes: FloatNormAttributes, inputs: Specs, output: TensorSpec) -> None:
        length = inputs[1].elements
        x, weight, *bias = loops.buffers("x weight bias", (s.flat for s in inputs))
        y = loops.buffer("y", output.flat)

        def number(value: float) -> Any:
            return tirx.const(value, "float32")

        with loops.parallel("row", output.elements // length) as row:
            first = loops.bind("first", row * length)
            mean = None
            if attributes.kind == "layer":
                mean = mean_of(loops, total(loops, "total", length, lambda at: x[first + at]), length)

            def centred(at: Any) -> Any:
                return loops.bind("centred", x[first + at] - mean) if mean is not None else x[first + at]

            def square(at: Any) -> Any:
                value = loops.bind("value", centred(at))
                return value * value

            squares = total(loops, "squares", length, square)
            variance = loops.bind("variance", squares * number(1 / length) + number(attributes.epsilon))
            factor = loops.bind("factor", call("rsqrt", variance, dtype="float32"))

            def scale(at: Any) -> None:
                value = centred(at) * factor
                scaled = call("fma", value, weight[at], bias[0][at], dtype="float32") if bias else value * weight[at]
                loops.store(y, [first + at], scaled)

            each(loops, length, scale)
