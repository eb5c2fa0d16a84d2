"""Matrix product of two activations, with numpy's batch broadcasting and requantization inside.

Operands: a[..., M, K], b[..., K, N] (or [..., N, K] with `transpose_b`)[, requantization tensors].
"""

import math
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import broadcast_shape
from tvm_pulp.qnn.operator import (
    Arrays,
    Loops,
    Operator,
    Requant,
    Specs,
    Stated,
    TensorSpec,
    i32,
    less,
    register,
)
from tvm_pulp.qnn.record import PairAttributes
from tvm_pulp.qnn.tiles import MATMUL
from tvm_pulp.quick_records import quick_record


class Product(Operator[Stated]):
    """Type and work of matrix products; their depth is the last axis of the first operand."""

    def infer(self, attributes: Stated, inputs: Specs) -> TensorSpec:
        a, b = inputs[:2]
        if min(len(a.shape), len(b.shape)) < 2:
            raise ValueError(f"{a} and {b} are not matrices")
        columns = b.shape[-2] if getattr(attributes, "transpose_b", False) else b.shape[-1]
        batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
        return TensorSpec((*batch, a.shape[-2], columns), self.result_type(attributes))

    def macs(self, attributes: Stated, inputs: Specs, output: TensorSpec) -> int:
        return output.elements * inputs[0].shape[-1]


@quick_record(kw_only=True, slots=False)
class MatmulAttributes(PairAttributes):
    """How the second operand lies, and bits of sums."""

    transpose_b: bool
    sum_bits: int = 32


@register("matmul", attributes=MatmulAttributes, operands="a b", tile=MATMUL)
class Matmul(Product[MatmulAttributes]):
    def reference(self, attributes: MatmulAttributes, inputs: Arrays) -> np.ndarray:
        requant = Requant.of(attributes)
        a = inputs[0].astype(np.int64) - attributes.zero_point_a
        b = inputs[1].astype(np.int64) - attributes.zero_point_b
        return requant.apply(a @ (np.swapaxes(b, -1, -2) if attributes.transpose_b else b), inputs[2:])

    def body(self, loops: Loops, attributes: MatmulAttributes, inputs: Specs, output: TensorSpec) -> None:
        requant = Requant.of(attributes)
        a, b, *operands = loops.buffers("a b mul add", inputs)
        y = loops.buffer("y", output)
        depth = inputs[0].shape[-1]
        *batch_shape, rows, columns = output.shape

        def operand(buffer: Any, spec: TensorSpec, batch: list[Any], place: list[Any], zero_point: int) -> Any:
            lead = batch[len(batch) - (len(spec.shape) - 2) :]
            index = [i32(0) if size == 1 else i for i, size in zip(lead, spec.shape[:-2], strict=True)]
            return less(i32(buffer[(*index, *place)]), zero_point)

        with loops.parallel("place", math.prod(output.shape[:-1])) as place:
            row = loops.bind("row", tirx.truncmod(place, i32(rows))) if rows > 1 else i32(0)
            outer = tirx.truncdiv(place, i32(rows)) if rows > 1 else place
            batch = loops.unravel("batch", outer, batch_shape)
            with loops.loop("column", columns) as column:
                acc = loops.accumulator(0, attributes)
                with loops.loop("c", depth) as c:
                    left = operand(a, inputs[0], batch, [row, c], attributes.zero_point_a)
                    second = [column, c] if attributes.transpose_b else [c, column]
                    acc.add_product(left, operand(b, inputs[1], batch, second, attributes.zero_point_b))
                loops.store(y, [*batch, row, column], requant.expression(acc.value, operands, column))
