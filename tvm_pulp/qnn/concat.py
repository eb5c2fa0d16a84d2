"""Concatenation along one axis. Operands: the parts, then a table[256] for each part listed in `tables`.

A part with a table is looked up on its way; the first entry belongs to the smallest value of its type.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, less, register
from tvm_pulp.qnn.tensor_spec import looked_up


@register("concat", attributes="axis tables")
class Concat(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        parts, tables = divide(attributes, inputs)
        shape = list(parts[0].shape)
        shape[attributes["axis"]] = sum(p.shape[attributes["axis"]] for p in parts)
        return TensorSpec(tuple(shape), tables[0].dtype if 0 in tables else parts[0].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        parts, tables = divide(attributes, inputs)
        found = [looked_up(tables[i], p) if i in tables else p for i, p in enumerate(parts)]
        return np.concatenate(found, axis=attributes["axis"])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        axis = attributes["axis"]
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


def divide(attributes: Attributes, operands: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
    """The parts, and the tables by the number of their part."""
    numbers = [int(n) for n in attributes.get("tables", [])]
    count = len(operands) - len(numbers)
    return list(operands[:count]), dict(zip(numbers, operands[count:], strict=True))
