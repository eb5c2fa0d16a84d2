"""Matrix product of floats, with numpy's batch broadcasting: every sum in the order of the depth, rounded once a step.

Operands: a[..., M, K], b[..., K, N] (or [..., N, K] with `transpose_b`)[, bias[N]].
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.float_blocks import ROW_STEPS, Blocks, block_start
from tvm_pulp.qnn.matmul import Product
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.tiles import MATMUL
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class FloatMatmulAttributes(Attributes):
    """The orientation of the second matrix."""

    transpose_b: bool


@register("float_matmul", attributes=FloatMatmulAttributes, operands="a weight bias", tile=MATMUL, result="float32")
class FloatMatmul(Product[FloatMatmulAttributes]):
    def reference(self, attributes: FloatMatmulAttributes, inputs: Arrays) -> np.ndarray:
        a, b, *bias = (i.astype(np.float64) for i in inputs)
        product = a @ (np.swapaxes(b, -1, -2) if attributes.transpose_b else b)
        return np.asarray((product + bias[0] if bias else product).astype(np.float32))

    def body(self, loops: Loops, attributes: FloatMatmulAttributes, inputs: Specs, output: TensorSpec) -> None:
        transposed = attributes.transpose_b
        a, b, *bias = loops.buffers("a b bias", (s.flat for s in inputs))
        y = loops.buffer("y", output.flat)
        depth = inputs[0].shape[-1]
        *batch_shape, rows, columns = output.shape
        blocks = Blocks.best(rows, columns, depth, math.prod(batch_shape))

        def base(spec: TensorSpec, batch: Sequence[Any]) -> Any:
            """The place where the matrix of a batch begins."""
            place: Any = i32(0)
            lead = batch[len(batch) - (len(spec.shape) - 2) :]
            for axis, (index, size) in enumerate(zip(lead, spec.shape[:-2], strict=True)):
                if size > 1:
                    place = place + index * math.prod(spec.shape[axis + 1 :])
            return place

        with loops.parallel("block", math.prod(batch_shape) * blocks.rows * blocks.columns) as place:
            across = loops.bind("across", tirx.truncmod(place, i32(blocks.columns))) if blocks.columns > 1 else i32(0)
            line = loops.bind("line", tirx.truncdiv(place, i32(blocks.columns))) if blocks.columns > 1 else place
            down = loops.bind("down", tirx.truncmod(line, i32(blocks.rows))) if blocks.rows > 1 else i32(0)
            outer = tirx.truncdiv(line, i32(blocks.rows)) if blocks.rows > 1 else line
            batch = loops.unravel("batch", loops.bind("outer", outer), batch_shape)
            row = loops.bind("row", block_start(down, blocks.height, rows))
            column = loops.bind("column", block_start(across, blocks.width, columns))
            first_a = loops.bind("first_a", base(inputs[0], batch) + row * depth)
            first_b = loops.bind("first_b", base(inputs[1], batch) + column * (depth if transposed else 1))
            start = [bias[0][column + j] if bias else 0 for j in range(blocks.width)]
            sums = [
                [loops.scalar("sum", start[j], "float32") for j in range(blocks.width)] for _ in range(blocks.height)
            ]

            def add_products(k: Any) -> None:
                left = [loops.bind("left", a[first_a + k + i * depth]) for i in range(blocks.height)]
                step = (1, depth) if transposed else (columns, 1)
                right = [loops.bind("right", b[first_b + k * step[0] + j * step[1]]) for j in range(blocks.width)]
                for i in range(blocks.height):
                    for j in range(blocks.width):
                        sums[i][j].set(call("fma", left[i], right[j], sums[i][j].value, dtype="float32"))

            # One row has few sums beside its loop: several steps of the depth share what the loop costs.
            together = ROW_STEPS if blocks.height == 1 and depth % ROW_STEPS == 0 else 1
            with loops.loop("k", depth // together) as k:
                place_k = loops.bind("deep", k * together) if together > 1 else k
                for n in range(together):
                    add_products(place_k + n if n else place_k)
            first_y = outer * (rows * columns) + row * columns + column if batch_shape else row * columns + column
            at = loops.bind("first_y", first_y)
            for i in range(blocks.height):
                for j in range(blocks.width):
                    loops.store(y, [at + (i * columns + j)], sums[i][j].value)
