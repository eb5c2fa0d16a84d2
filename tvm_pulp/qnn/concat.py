"""Concatenation along one axis. Operands: the parts, then a table[256] for each part listed in `tables`.

A part with a table is looked up on its way; the first entry belongs to the smallest value of its type.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, less, register
from tvm_pulp.qnn.tensor_spec import looked_up
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class ConcatAttributes(Attributes):
    """Numbers of the parts that have a table."""

    axis: int
    tables: tuple[int, ...] = ()


@register("concat", attributes=ConcatAttributes)
class Concat(Operator[ConcatAttributes]):
    def infer(self, attributes: ConcatAttributes, inputs: Specs) -> TensorSpec:
        parts, tables = divide(attributes, inputs)
        shape = list(parts[0].shape)
        shape[attributes.axis] = sum(p.shape[attributes.axis] for p in parts)
        return TensorSpec(tuple(shape), tables[0].dtype if 0 in tables else parts[0].dtype)

    def reference(self, attributes: ConcatAttributes, inputs: Arrays) -> np.ndarray:
        parts, tables = divide(attributes, inputs)
        found = [looked_up(tables[i], p) if i in tables else p for i, p in enumerate(parts)]
        return np.concatenate(found, axis=attributes.axis)

    def body(self, loops: Loops, attributes: ConcatAttributes, inputs: Specs, output: TensorSpec) -> None:
        axis = attributes.axis
        sources, tables = divide(attributes, [loops.buffer(f"x{i}", spec) for i, spec in enumerate(inputs)])
        y = loops.buffer("y", output)
        first = 0
        for number, (source, spec) in enumerate(zip(sources, inputs, strict=False)):
            with over(loops, spec.shape) as indices:
                target = [index + first if a == axis and first else index for a, index in enumerate(indices)]
                value = source[tuple(indices)]
                if number in tables:
                    value = tables[number][less(i32(value), spec.range[0])]
                loops.store(y, target, value)
            first += spec.shape[axis]


def divide(attributes: ConcatAttributes, operands: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
    """The parts, and the tables by the number of their part."""
    numbers = attributes.tables
    count = len(operands) - len(numbers)
    return list(operands[:count]), dict(zip(numbers, operands[count:], strict=True))
