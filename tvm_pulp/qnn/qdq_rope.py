"""Rotary position embedding of a quantize/dequantize graph: 8 bits in and out, single precision inside.

Operands: x[1, a, b, size], cosine and sine of positions * size elements, first[256], second[256]. Positions run along a
or b (`position_axis` 1 or 2). With partner(i) the element half a row away, looked up in `first` for the first half of a
row and in `second` for the second half (what a minus sign and a change of scale make of its byte), zero points taken
out:

    kept = round(x * cosine * kept_scale), from kept_low to kept_high
    turned = round(partner * sine * turned_scale), from turned_low to turned_high
    y = round(kept * kept_weight + turned * turned_weight), from low to high, plus zero_point
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import round_within, rounded
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.record import Rounded
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class QdqRopeAttributes(Rounded):
    """Scales and ranges of both products."""

    kept_high: int
    kept_low: int
    kept_scale: float
    kept_weight: float
    position_axis: int
    turned_high: int
    turned_low: int
    turned_scale: float
    turned_weight: float
    zero_point_cosine: int
    zero_point_partner: int
    zero_point_sine: int
    zero_point_x: int


def _element(a: QdqRopeAttributes, x: Any, cosine: Any, partner: Any, sine: Any) -> Any:
    """An element of the result."""

    def product(p: Any, q: Any, name: str, zeros: tuple[str, str]) -> Any:
        exact = (p - a[zeros[0]]) * (q - a[zeros[1]])
        whole = round_within(exact.astype("float32") * a[f"{name}_scale"], a[f"{name}_low"], a[f"{name}_high"])
        return whole.astype("float32") * a[f"{name}_weight"]

    kept = product(x, cosine, "kept", ("zero_point_x", "zero_point_cosine"))
    return rounded(kept + product(partner, sine, "turned", ("zero_point_partner", "zero_point_sine")), a)


@register(
    "qdq_rope",
    attributes=QdqRopeAttributes,
    operands="x cosine sine first second",
    single_precision=True,
)
class QdqRope(Operator[QdqRopeAttributes]):
    def reference(self, attributes: QdqRopeAttributes, inputs: Arrays) -> np.ndarray:
        a, (x, cosine, sine, first, second) = attributes, inputs
        half, low = x.shape[-1] // 2, TensorSpec((), str(x.dtype)).range[0]
        index = x.astype(np.int64) - low
        partner = np.concatenate([first[index[..., half:]], second[index[..., :half]]], axis=-1)
        shape = (1, -1, 1, x.shape[-1]) if a.position_axis == 1 else (1, 1, -1, x.shape[-1])
        factors = (x, cosine.reshape(shape), partner, sine.reshape(shape))
        return np.asarray(_element(a, *(factor.astype(np.int64) for factor in factors)))

    def body(self, loops: Loops, attributes: QdqRopeAttributes, inputs: Specs, output: TensorSpec) -> None:
        a = attributes
        _, outer, inner, size = inputs[0].shape
        half, low = size // 2, inputs[0].range[0]
        rows = TensorSpec((outer * inner, size), inputs[0].dtype)
        angles = [TensorSpec((spec.elements // size, size), spec.dtype) for spec in inputs[1:3]]
        x = loops.buffer("x", rows)
        cosine, sine = (loops.buffer(n, spec) for n, spec in zip(("cosine", "sine"), angles, strict=True))
        tables = [loops.buffer("table", spec) for spec in inputs[3:]]
        y = loops.buffer("y", TensorSpec(rows.shape, output.dtype))

        with loops.parallel("row", outer * inner) as row:
            divide, count = (tirx.truncdiv, inner) if a.position_axis == 1 else (tirx.truncmod, inner)
            position = loops.bind("position", divide(row, i32(count)))
            for part, table in enumerate(tables):
                with loops.loop("i", half) as i:
                    place, other = i + part * half, i + (1 - part) * half
                    partner = table[i32(x[row, other]) - low]
                    factors = (x[row, place], cosine[position, place], partner, sine[position, place])
                    loops.store(y, [row, place], _element(a, *map(i32, factors)))
