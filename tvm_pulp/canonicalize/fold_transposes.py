"""Pass: transposes move into their neighbours.

A transpose of a transpose is one transpose, and a matrix product reads its right operand either way:

    transpose(transpose(x))                    becomes   transpose(x)
    matmul(a, transpose(b) of the last two axes)  becomes   matmul(a, b, transpose_b)
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.qnn.operator import spec_of


class FoldTransposes(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "transpose"):
            inner = self.definition(value.args[0])
            if inner is not None and qnn.is_qnn(inner, "transpose"):
                before, after = qnn.attributes(inner)["axes"], qnn.attributes(value)["axes"]
                axes = [before[a] for a in after]
                return _transposed(inner.args[0], axes)
        if qnn.is_qnn(value, "matmul"):
            inner = self.definition(value.args[1])
            if inner is not None and qnn.is_qnn(inner, "transpose"):
                axes = qnn.attributes(inner)["axes"]
                rest = [*axes[:-2], axes[-1], axes[-2]]
                # Worth it when the rest keeps the last axis in place: then it moves rows, not single elements.
                if rest[-1] == len(axes) - 1:
                    attributes = qnn.attributes(value)
                    attributes["transpose_b"] = 1 - attributes["transpose_b"]
                    source = _transposed(inner.args[0], rest)
                    source = source if isinstance(source, relax.Var) else self.emit(source)
                    return qnn.emit("matmul", [value.args[0], source, *value.args[2:]], attributes)
        return value


def _transposed(source: Any, axes: list[int]) -> Any:
    """The cheapest way to permute axes: nothing, a view where no two long axes change places, a transpose."""
    if axes == sorted(axes):
        return source
    shape = spec_of(source).shape
    moved = [a for a in axes if shape[a] > 1]
    if moved == sorted(moved):
        return relax.op.reshape(source, tuple(shape[a] for a in axes))
    return qnn.emit("transpose", [source], {"axes": axes})
