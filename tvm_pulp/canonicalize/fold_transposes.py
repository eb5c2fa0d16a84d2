"""Pass: transposes move into their neighbours.

A transpose of a transpose is one transpose, and a matrix product reads its right operand either way:

    transpose(transpose(x))                    becomes   transpose(x)
    transpose(reshape(transpose(x)))           becomes   reshape(transpose(x)), where axes are only put together
    matmul(a, transpose(b) of the last two axes)  becomes   matmul(a, b, transpose_b)
"""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import permuted
from tvm_pulp.canonicalize.rewriter import Rewriter, is_op, needed, require, spec_of
from tvm_pulp.qnn.matmul import MatmulAttributes
from tvm_pulp.quick_records import changed


class FoldTransposes(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "matmul"):
            return self._read_either_way(value)
        require(qnn.is_qnn(value, "transpose"))
        inner, after = self.definition(value.args[0]), qnn.attributes(value)["axes"]
        if qnn.is_qnn(inner, "transpose"):
            return _transposed(inner.args[0], [qnn.attributes(inner)["axes"][a] for a in after])
        return self._moved_behind(value, inner, after)

    def _read_either_way(self, value: Any) -> Any:
        """A matrix product whose right operand need not be transposed."""
        inner = self.definition(value.args[1])
        require(qnn.is_qnn(inner, "transpose"))
        axes = qnn.attributes(inner)["axes"]
        rest = [*axes[:-2], axes[-1], axes[-2]]
        # Worth it when the rest keeps the last axis in place: then it moves rows, not single elements.
        require(rest[-1] == len(axes) - 1)
        stated = qnn.attributes(value, MatmulAttributes)
        attributes = changed(stated, transpose_b=not stated.transpose_b)
        source = self._bound(_transposed(inner.args[0], rest))
        return qnn.emit("matmul", [value.args[0], source, *value.args[2:]], attributes)

    def _moved_behind(self, value: Any, inner: Any, after: list[int]) -> Any:
        """A transpose of a reshape of a transpose as one transpose of the separate axes, if there is one less then."""
        require(is_op(inner, "relax.reshape"))
        first = self.definition(inner.args[0])
        require(qnn.is_qnn(first, "transpose"))
        merged, before = spec_of(value.args[0]).shape, qnn.attributes(first)["axes"]
        groups = needed(_merged_axes(spec_of(inner.args[0]).shape, merged))
        moved = _transposed(first.args[0], [before[a] for group in after for a in groups[group]])
        return relax.op.reshape(self._bound(moved), tuple(merged[a] for a in after))

    def _bound(self, value: Any) -> Any:
        return value if isinstance(value, relax.Var) else self.emit(value)


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
    """Permuted axes, or the tensor itself where they stay."""
    return source if axes == sorted(axes) else permuted(source, axes)
