"""Fully connected layer: rows of x times a constant weight matrix [N, K], with bias and requantization inside.

Operands: x[..., K], weight[N, K][, bias[N]][, requantization tensors].
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tiles import Box, Part, TileAxis, TileRule, Whole, all_axes, constants


def _axes(whole: Whole) -> tuple[TileAxis, ...]:
    """Columns first."""
    return tuple(reversed(all_axes(whole)))


def _part(whole: Whole, box: Box) -> Part:
    depth = whole.inputs[1].shape[1]
    source = Box((*box.start[:-1], 0), (*box.size[:-1], depth))
    filters = Box((box.start[-1], 0), (box.size[-1], depth))
    return Part((source, filters, *constants(whole.inputs[2:], box.span(-1))), whole.attributes)


@register(
    "dense", attributes="has_bias sum_bits zero_point requant*", operands="x weight bias", tile=TileRule(_axes, _part)
)
class Dense(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        x, weight = inputs[:2]
        return TensorSpec((*x.shape[:-1], weight.shape[0]), Requant.of(attributes).out_dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        requant = Requant.of(attributes)
        acc = (inputs[0].astype(np.int64) - attributes["zero_point"]) @ inputs[1].astype(np.int64).T
        if attributes["has_bias"]:
            acc = acc + inputs[2].astype(np.int64)
        return requant.apply(acc, inputs[len(inputs) - requant.operands :])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        requant = Requant.of(attributes)
        zero_point = attributes["zero_point"]
        n, depth = inputs[1].shape
        rows = output.elements // n
        # Leading axes are one: a row-major tensor does not care.
        x = loops.buffer("x", TensorSpec((rows, depth), inputs[0].dtype))
        weight = loops.buffer("weight", inputs[1])
        bias = loops.buffer("bias", inputs[2]) if attributes["has_bias"] else None
        operands = [loops.buffer(m, s) for m, s in zip(("mul", "add"), requant.specs(inputs), strict=False)]
        y = loops.buffer("y", TensorSpec((rows, n), output.dtype))

        def element(row: Any, column: Any) -> None:
            acc = loops.accumulator("acc", bias[column] if bias is not None else 0, attributes)
            with loops.loop("c", depth) as c:
                value = i32(x[row, c])
                value = value - zero_point if zero_point else value
                acc.add_product(value, i32(weight[column, c]))
            loops.store(y, [row, column], requant.expression(acc.value, operands, column))

        if rows == 1:
            with loops.parallel("column", n) as column:
                element(i32(0), column)
        else:
            with loops.parallel("place", rows * n) as place:
                row = loops.bind("row", tirx.truncdiv(place, i32(n)))
                element(row, loops.bind("column", tirx.truncmod(place, i32(n))))

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return output.elements * inputs[1].shape[1]
