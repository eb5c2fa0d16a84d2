"""Loop nest shared by the element-wise operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tvm_pulp.qnn.broadcast import broadcast_index, unravel
from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec


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


def lower_elementwise(
    name: str,
    data: Sequence[tuple[str, TensorSpec]],
    requant: Requant,
    operands: Sequence[TensorSpec],
    output: TensorSpec,
    compute: Callable[..., Any],
    axis: int = -1,
) -> Any:
    """y = requantize(compute(values of the data operands)), with broadcasting."""
    loops = Loops()
    if all(spec.shape == output.shape for _, spec in data) and all(o.elements == 1 for o in operands):
        # Every operand is read in the order it is stored: one flat loop.
        output = TensorSpec((output.elements,), output.dtype)
        data = [(label, TensorSpec(output.shape, spec.dtype)) for label, spec in data]
        axis = -1
    buffers = [loops.buffer(label, spec) for label, spec in data]
    tensors = [loops.buffer(label, spec) for label, spec in zip(("mul", "add"), operands, strict=False)]
    y = loops.buffer("y", output)
    with over(loops, output.shape) as indices:
        values = [
            i32(b[tuple(broadcast_index(spec.shape, indices))]) for b, (_, spec) in zip(buffers, data, strict=True)
        ]
        result = requant.expression(compute(*values), tensors, indices[axis])
        loops.store(y, indices, result)
    return loops.finish(name)
