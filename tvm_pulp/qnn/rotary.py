"""Rotary positions on neighbouring pairs of every head. Operands: x[n, heads * size], rotation[n, size] of int16.

A row of `rotation` holds cosine and sine of a position, pair by pair, times 2^14:

    y[2p]     = clip((x[2p] * cosine - x[2p + 1] * sine   + 2^13) >> 14)
    y[2p + 1] = clip((x[2p] * sine   + x[2p + 1] * cosine + 2^13) >> 14)
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.record import NoAttributes

SHIFT = 14


def rotation_table(positions: int, size: int, base: float = 10000.0) -> np.ndarray:
    """Rows of `rotation` for positions from 0 on."""
    angle = np.arange(positions)[:, None] * base ** (-np.arange(0, size, 2) / size)
    table = np.stack((np.cos(angle), np.sin(angle)), -1).reshape(positions, size)
    return np.rint(table * (1 << SHIFT)).astype(np.int16)


@register("rotary", operands="x rotation", result="int8")
class Rotary(Operator[NoAttributes]):
    def reference(self, attributes: NoAttributes, inputs: Arrays) -> np.ndarray:
        x, rotation = (i.astype(np.int64) for i in inputs)
        rows, size = rotation.shape
        pairs = x.reshape(rows, -1, size // 2, 2)
        cosine, sine = rotation[:, None, ::2], rotation[:, None, 1::2]
        even, odd = pairs[..., 0], pairs[..., 1]
        rotated = np.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1)
        return np.clip((rotated + (1 << SHIFT >> 1)) >> SHIFT, -128, 127).astype(np.int8).reshape(x.shape)

    def body(self, loops: Loops, attributes: NoAttributes, inputs: Specs, output: TensorSpec) -> None:
        rows, size = inputs[1].shape
        heads = output.elements // (rows * size)
        shape = (rows, heads, size // 2, 2)
        specs = (TensorSpec(shape, inputs[0].dtype), TensorSpec((rows, size // 2, 2), "int16"))
        source, rotation, target = loops.buffers("x rotation y", (*specs, TensorSpec(shape, output.dtype)))
        with loops.parallel("place", rows * heads) as place:
            row, head = loops.split(place, heads, "row", "head")
            with loops.loop("pair", size // 2) as pair:
                even, odd = (loops.bind("value", i32(source[row, head, pair, n])) for n in (0, 1))
                cosine, sine = (loops.bind("factor", i32(rotation[row, pair, n])) for n in (0, 1))
                for n, value in enumerate((even * cosine - odd * sine, even * sine + odd * cosine)):
                    rounded = tirx.shift_right(value + (1 << SHIFT >> 1), i32(SHIFT))
                    loops.store(target, [row, head, pair, n], call("clip", rounded, -128, 127).astype("int8"))
