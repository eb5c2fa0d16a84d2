"""Fully connected layer: rows of x times a constant weight matrix [N, K], with bias and requantization inside.

Operands: x[..., K], weight[N, K][, bias[N]][, requantization tensors].
"""

from typing import Any

import numpy as np

from tvm_pulp.qnn.matmul import Product
from tvm_pulp.qnn.operator import Arrays, Loops, Requant, Specs, TensorSpec, i32, less, register
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.qnn.tiles import Box, Part, TileAxis, TileRule, Whole, all_axes, constants


def _axes(whole: Whole) -> tuple[TileAxis, ...]:
    """Columns first."""
    return tuple(reversed(all_axes(whole)))


def _part(whole: Whole, box: Box) -> Part:
    depth = whole.inputs[1].shape[1]
    source = Box((*box.start[:-1], 0), (*box.size[:-1], depth))
    filters = Box((box.start[-1], 0), (box.size[-1], depth))
    return Part((source, filters, *constants(whole.inputs[2:], box.span(-1))), whole.attributes)


@register("dense", attributes=LinearAttributes, operands="x weight bias", tile=TileRule(_axes, _part))
class Dense(Product[LinearAttributes]):
    def infer(self, attributes: LinearAttributes, inputs: Specs) -> TensorSpec:
        x, weight = inputs[:2]
        if not x.shape:
            raise ValueError(f"{x} has no rows to multiply")
        return TensorSpec((*x.shape[:-1], weight.shape[0]), Requant.of(attributes).out_dtype)

    def reference(self, attributes: LinearAttributes, inputs: Arrays) -> np.ndarray:
        requant = Requant.of(attributes)
        acc = (inputs[0].astype(np.int64) - attributes.zero_point) @ inputs[1].astype(np.int64).T
        if attributes.has_bias:
            acc = acc + inputs[2].astype(np.int64)
        return requant.apply(acc, requant.tensors(inputs))

    def body(self, loops: Loops, attributes: LinearAttributes, inputs: Specs, output: TensorSpec) -> None:
        requant = Requant.of(attributes)
        zero_point = attributes.zero_point
        n, depth = inputs[1].shape
        rows = output.elements // n
        # Leading axes are one: a row-major tensor does not care.
        x, weight, *bias = loops.buffers("x weight bias", (inputs[0].rows, *inputs[1 : 2 + attributes.has_bias]))
        operands = loops.buffers("mul add", requant.tensors(inputs))
        y = loops.buffer("y", output.rows)

        def element(row: Any, column: Any) -> None:
            acc = loops.accumulator(bias[0][column] if bias else 0, attributes)
            with loops.loop("c", depth) as c:
                acc.add_product(less(i32(x[row, c]), zero_point), i32(weight[column, c]))
            loops.store(y, [row, column], requant.expression(acc.value, operands, column))

        if rows == 1:
            with loops.parallel("column", n) as column:
                element(i32(0), column)
        else:
            with loops.parallel("place", rows * n) as place:
                element(*loops.split(place, n, "row", "column"))
