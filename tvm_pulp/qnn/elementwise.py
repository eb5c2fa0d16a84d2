"""Element-wise operators: their loop nest, and all but the formula of those that are requantized."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tvm_pulp.qnn.broadcast import broadcast_index, broadcast_shape, unravel
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Requant, Specs, TensorSpec, i32


@contextmanager
def over(loops: Loops, shape: Sequence[int]) -> Iterator[list[Any]]:
    """Indices of every element. The outer axes are one parallel loop, the last axis the inner loop."""
    if not shape:  # a scalar
        with loops.parallel("i", 1):
            yield []
        return
    inner = shape[-1]
    outer = math.prod(shape[:-1])
    if outer == 1:
        with loops.parallel("i", inner) as i:
            yield [*([i32(0)] * (len(shape) - 1)), i]
        return
    with loops.parallel("place", outer) as place:
        lead = [loops.bind("outer", index) for index in unravel(place, shape[:-1])]
        with loops.loop("i", inner) as i:
            yield [*lead, i]


class Elementwise(Operator):
    """Element by element, with broadcasting: a value of the data operands, requantized where there is a rule."""

    def data_names(self, attributes: Attributes) -> list[str]:
        """Names of the data operands."""
        return self.operand_names.split()

    def value(self, attributes: Attributes, *operands: Any) -> Any:
        """The result before requantization, of 64-bit integers in numpy."""
        raise NotImplementedError

    def expression(self, attributes: Attributes, *operands: Any) -> Any:
        """The same in TIR, of 32-bit integers."""
        return self.value(attributes, *operands)

    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        data = inputs[: len(self.data_names(attributes))]
        return TensorSpec(broadcast_shape(*(spec.shape for spec in data)), self.result_type(attributes))

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        count, rule = len(self.data_names(attributes)), Requant.of(attributes)
        value = np.asarray(self.value(attributes, *(x.astype(np.int64) for x in inputs[:count])))
        value = rule.apply(value, inputs[count:], attributes.get("axis", -1)) if rule.operands else value
        return value.astype(self.result_type(attributes))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        names, axis = self.data_names(attributes), attributes.get("axis", -1)
        data, constants = list(inputs[: len(names)]), inputs[len(names) :]
        if all(spec.shape == output.shape for spec in data) and all(o.elements == 1 for o in constants):
            # Every operand is read in the order it is stored: one flat loop.
            output, data, axis = output.flat, [spec.flat for spec in data], -1
        buffers = loops.buffers(" ".join(names), data)
        tensors = loops.buffers("mul add", constants)
        y = loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            read = [i32(b[tuple(broadcast_index(spec.shape, indices))]) for b, spec in zip(buffers, data, strict=True)]
            value = self.expression(attributes, *read)
            loops.store(y, indices, Requant.of(attributes).expression(value, tensors, indices[axis]))
