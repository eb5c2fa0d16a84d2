"""New rows of values for a cache whose words hold four positions of an element."""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.record import NoAttributes

TOGETHER = 4


def groups_of(rows: int) -> int:
    """Groups that new rows touch at most."""
    return (rows + 2 * TOGETHER - 2) // TOGETHER


@register("value_groups", operands="v group length")
class ValueGroups(Operator[NoAttributes]):
    """New rows of values for a cache whose words hold four positions of an element.

    Operands: v[n, columns], group[1, columns * 4], length[1] of int32. `group` holds the last positions of a cache of
    `length`; the first `length % 4` of its bytes of an element begin the result, the new rows follow, then zeros:

        y[(n + 6) / 4, columns * 4]
    """

    def infer(self, attributes: NoAttributes, inputs: Specs) -> TensorSpec:
        rows, columns = inputs[0].shape
        return TensorSpec((groups_of(rows), TOGETHER * columns), inputs[0].dtype)

    def reference(self, attributes: NoAttributes, inputs: Arrays) -> np.ndarray:
        v, group, length = inputs
        (rows, columns), known = v.shape, int(length[0]) % TOGETHER
        y = np.zeros((groups_of(rows) * TOGETHER, columns), v.dtype)
        y[:known] = group.reshape(columns, TOGETHER).T[:known]
        y[known : known + rows] = v
        return np.ascontiguousarray(y.reshape(-1, TOGETHER, columns).swapaxes(1, 2).reshape(-1, TOGETHER * columns))

    def body(self, loops: Loops, attributes: NoAttributes, inputs: Specs, output: TensorSpec) -> None:
        v, group, length, y = loops.buffers("v group length y", (*inputs, output))
        rows, columns = inputs[0].shape
        known = loops.bind("known", tirx.truncmod(length[0], i32(TOGETHER)))
        with loops.parallel("row", output.shape[0]) as row, loops.loop("i", TOGETHER * columns) as i:
            place = loops.bind("place", row * TOGETHER + tirx.truncmod(i, i32(TOGETHER)))
            # Rows that are not there are not read: the nearest is, and not taken.
            new = loops.bind("new", tirx.min(tirx.max(place - known, i32(0)), i32(rows - 1)))
            value = loops.bind("value", i32(v[new, tirx.truncdiv(i, i32(TOGETHER))]))
            behind = tirx.Select(place - known < rows, value, i32(0))
            loops.store(y, [row, i], tirx.Select(place < known, i32(group[0, i]), behind).astype(output.dtype))
