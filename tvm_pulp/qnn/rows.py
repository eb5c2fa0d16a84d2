"""Row-wise operators: everything happens along the last axis, rows are independent."""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, i32, i64, register
from tvm_pulp.qnn.tiles import BY_ROW
from tvm_pulp.quick_records import quick_record


def integer_sqrt(values: np.ndarray) -> np.ndarray:
    """Floor of the square root, exact."""
    root = np.floor(np.sqrt(values.astype(np.float64))).astype(np.int64)
    root -= root * root > values
    return root + ((root + 1) * (root + 1) <= values)


def truncate_divide(a: np.ndarray, b: np.ndarray | int) -> np.ndarray:
    """C's division: towards zero. The divisor is positive."""
    return np.asarray(np.sign(a) * (np.abs(a) // b))


def clip_levels(values: np.ndarray, levels: int) -> np.ndarray:
    """Saturate to a signed range of `levels` values."""
    return np.clip(values, -(levels // 2), levels // 2 - 1)


def levels_dtype(levels: int) -> str:
    """Type of a signed result with `levels` values."""
    return "int8" if levels <= 256 else "int32"


def largest(spec: TensorSpec, others: np.ndarray) -> int:
    """Bound of |x * other|."""
    return spec.magnitude * int(np.abs(others.astype(np.int64)).max(initial=0))


@quick_record(kw_only=True, slots=False)
class RowNormAttributes(Attributes):
    """Levels of the result, the shift behind the division, and whether products need 64 bits."""

    levels: int
    shift: int
    wide: bool


class RowNorm(Operator[RowNormAttributes]):
    """Integer normalization of rows by weights; with a bias, less their mean first."""

    def result_type(self, attributes: RowNormAttributes) -> str:
        return levels_dtype(attributes.levels)

    def reference(self, attributes: RowNormAttributes, inputs: Arrays) -> np.ndarray:
        x, weight, *bias = (i.astype(np.int64) for i in inputs)
        n = x.shape[-1]
        d = x - truncate_divide(x.sum(-1, keepdims=True), n) if bias else x
        root = integer_sqrt((d * d).sum(-1, keepdims=True) // n + 1)
        quotient = truncate_divide(d * weight, root)
        value = (quotient + bias[0] if bias else quotient) >> attributes.shift
        return clip_levels(value, attributes.levels).astype(self.result_type(attributes))

    def body(self, loops: Loops, attributes: RowNormAttributes, inputs: Specs, output: TensorSpec) -> None:
        half, length = attributes.levels // 2, inputs[0].shape[-1]
        x, weight, *bias = loops.buffers("x weight bias", (inputs[0].rows, *inputs[1:]))
        y = loops.buffer("y", output.rows)
        wide, clip = (i64, "clip_wide") if attributes.wide else (i32, "clip")
        with loops.parallel("row", output.elements // length) as row:
            mean = None
            if bias:
                total = loops.sum("total", "i", length, lambda i: i32(x[row, i]))
                mean = loops.bind("mean", tirx.truncdiv(total.value, i32(length)))

            def square(j: Any) -> Any:
                value = i32(x[row, j])
                value = loops.bind("value", value) if mean is None else loops.bind("centred", value - mean)
                return value * value

            squares = loops.sum("squares", "j", length, square)
            root = loops.bind("root", call("isqrt", tirx.truncdiv(squares.value, i32(length)) + 1))
            with loops.loop("i", length) as i:
                centred = wide(x[row, i]) if mean is None else wide(x[row, i]) - wide(mean)
                quotient = tirx.truncdiv(centred * wide(weight[i]), wide(root))
                quotient = quotient + wide(bias[0][i]) if bias else quotient
                clipped = call(clip, tirx.shift_right(quotient, wide(attributes.shift)), -half, half - 1)
                loops.store(y, [row, i], clipped.astype(output.dtype))


@register("layer_norm", attributes=RowNormAttributes, operands="x weight bias", tile=BY_ROW, single_precision=True)
class LayerNorm(RowNorm):
    """Integer layer normalization of rows: clip((d * weight / isqrt(mean(d^2) + 1) + bias) // D), d = x - mean(x).

    Operands: x[..., n], weight[n], bias[n]. The mean is truncated, not rounded; D = 2^shift floors.
    """


@register("rms_norm", attributes=RowNormAttributes, operands="x weight", tile=BY_ROW, single_precision=True)
class RmsNorm(RowNorm):
    """Integer RMS normalization of rows: clip((x * weight / isqrt(mean(x^2) + 1)) // D).

    Operands: x[..., n], weight[n]. The product is truncated towards zero when divided by the root, floored by D =
    2^shift.
    """
