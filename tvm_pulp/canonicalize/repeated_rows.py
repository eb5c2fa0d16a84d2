"""Pass: the smaller operand of a sum or a product becomes one row of the result, which kernels repeat.

Expects operands of which one has the result's shape; guarantees the same values. Axes before those of the smaller one
are the rows, all others their columns, so nothing is copied:

    add(a[4, 3, 16, 16], b[3, 16, 16])   becomes   reshape(add(reshape(a, [4, 768]), reshape(b, [768])))

A constant that has one entry along a later axis is written out, where that is not much.
"""

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn import lineage

# Bytes of a row, which every tile brings along, and of a constant that is written out.
_MOST_ROW, _MOST_WRITTEN = 16 * 1024, 8 * 1024


_CONCERNED = ("add", "mul", "qdq_mul")


class RepeatedRows(Rewriter):
    def run(self, module: Any) -> Any:
        values = (b.value for b in lineage.bindings_of(module["main"]))
        concerned = any(qnn.is_qnn(v, *_CONCERNED) and _differ(v) for v in values)
        return super().run(module) if concerned else module

    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, *_CONCERNED))
        operands, others, shape = list(value.args[:2]), value.args[2:], spec_of(value).shape
        place = int(spec_of(operands[0]).shape == shape)
        small, large = spec_of(operands[place]), spec_of(operands[1 - place])
        require(large.shape == shape and small.elements > 1 and all(spec_of(o).elements == 1 for o in others))
        require(small.shape != shape and not (small.elements == shape[-1] == small.shape[-1]))
        padded = (1,) * (len(shape) - len(small.shape)) + small.shape
        first = next(axis for axis, size in enumerate(padded) if size > 1)
        row = math.prod(shape[first:])
        require(row * max(small.itemsize, large.itemsize) <= _MOST_ROW)
        if padded[first:] != shape[first:]:
            require(row * small.itemsize <= _MOST_WRITTEN)
            data = needed(constant(operands[place])).reshape(padded[first:])
            operands[place] = relax.const(np.ascontiguousarray(np.broadcast_to(data, shape[first:])))
        rows = math.prod(shape[:first])
        made = shape if rows == 1 else (rows, row)
        shapes = [made, made]
        shapes[place] = made if rows == 1 else (row,)
        operands = [self._shaped(o, s) for o, s in zip(operands, shapes, strict=True)]
        total = qnn.emit(qnn.name_of(value), [*operands, *others], qnn.attributes(value))
        return total if made == shape else relax.op.reshape(self.emit(total), shape)

    def _shaped(self, operand: Any, shape: tuple[int, ...]) -> Any:
        data = constant(operand)
        if data is not None:
            return relax.const(data.reshape(shape))
        return operand if spec_of(operand).shape == shape else self.emit(relax.op.reshape(operand, shape))


def _differ(value: Any) -> bool:
    """Tell if the two operands have different shapes."""
    first, second = value.args[:2]
    return spec_of(first).shape != spec_of(second).shape
