"""Pass: transposes move into their neighbours.

A transpose of a transpose is one transpose, and a matrix product reads its right operand either way:

    transpose(transpose(x))                    becomes   transpose(x)
    transpose(reshape(transpose(x)))           becomes   reshape(transpose(x)), where axes are only put together
    matmul(a, transpose(b) of the last two axes)  becomes   matmul(a, b, transpose_b)
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, is_op
from tvm_pulp.qnn.operator import spec_of


class FoldTransposes(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "transpose"):
            inner = self.definition(value.args[0])
            if inner is not None and qnn.is_qnn(inner, "transpose"):
                before, after = qnn.attributes(inner)["axes"], qnn.attributes(value)["axes"]
                axes = [before[a] for a in after]
                return _transposed(inner.args[0], axes)
            moved = self._moved_behind(value, inner)
            if moved is not None:
                return moved
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

    def _moved_behind(self, value: Any, inner: Any) -> Any:
        """A transpose of a reshape of a transpose as one transpose of the separate axes, if there is one less then."""
        first = self.definition(inner.args[0]) if inner is not None and is_op(inner, "relax.reshape") else None
        if first is None or not qnn.is_qnn(first, "transpose"):
            return None
        merged, after = spec_of(value.args[0]).shape, qnn.attributes(value)["axes"]
        groups = _merged_axes(spec_of(inner.args[0]).shape, merged)
        if groups is None:
            return None
        before = qnn.attributes(first)["axes"]
        axes = [before[a] for group in after for a in groups[group]]
        moved = _transposed(first.args[0], axes)
        moved = moved if isinstance(moved, relax.Var) else self.emit(moved)
        return relax.op.reshape(moved, tuple(merged[a] for a in after))


def _merged_axes(shape: tuple[int, ...], merged: tuple[int, ...]) -> list[list[int]] | None:
    """Axes that each axis of a reshaped tensor consists of; None where one was divided."""
    groups: list[list[int]] = []
    axis = 0
    for size in merged:
        group, product = [], 1
        while axis < len(shape) and (product < size or shape[axis] == 1):
            group.append(axis)
            product *= shape[axis]
            axis += 1
        if product != size:
            return None
        groups.append(group)
    return groups if axis == len(shape) else None


def _transposed(source: Any, axes: list[int]) -> Any:
    """The cheapest way to permute axes: nothing, a view where no two long axes change places, a transpose."""
    if axes == sorted(axes):
        return source
    shape = spec_of(source).shape
    moved = [a for a in axes if shape[a] > 1]
    if moved == sorted(moved):
        return relax.op.reshape(source, tuple(shape[a] for a in axes))
    return qnn.emit("transpose", [source], {"axes": axes})
