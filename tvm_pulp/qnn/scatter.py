"""A tensor in which some rows are replaced by others, or combined with them.

Operands: x[rows, n], places[count], updates[count, n]. In the order of `updates`, row places[i] becomes updates[i]
(`reduction` none), or what it was plus, times, or the smaller or larger of it and updates[i] (add, mul, min, max).
Places outside of x change nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import SHARED_ITERATIONS
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.quick_records import quick_record

# In numpy and in TIR.
REDUCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "none": (lambda _old, new: new, lambda _old, new: new),
    "add": (np.add, lambda old, new: old + new),
    "mul": (np.multiply, lambda old, new: old * new),
    "min": (np.minimum, tirx.min),
    "max": (np.maximum, tirx.max),
}


@quick_record(kw_only=True, slots=False)
class ScatterAttributes(Attributes):
    """The way in which several updates of a place are combined."""

    reduction: str


@register("scatter", attributes=ScatterAttributes, operands="x places updates", result="x")
class Scatter(Operator[ScatterAttributes]):
    def reference(self, attributes: ScatterAttributes, inputs: Arrays) -> np.ndarray:
        x, places, updates = inputs
        y, combine = x.copy(), REDUCTIONS[attributes.reduction][0]
        with np.errstate(over="ignore"):
            for place, update in zip(places, updates, strict=True):
                if 0 <= place < len(y):
                    y[place] = combine(y[place], update)
        return y

    def body(self, loops: Loops, attributes: ScatterAttributes, inputs: Specs, output: TensorSpec) -> None:
        (rows, width), (count,) = inputs[0].shape, inputs[1].shape
        x, places, updates, y = loops.buffers("x places updates y", (*inputs, output))
        combine = REDUCTIONS[attributes.reduction][1]
        # A core looks at all updates and does those of its own rows: equal places stay in order.
        share = -(-rows // SHARED_ITERATIONS)
        with loops.parallel("part", -(-rows // share)) as part:
            begin = loops.bind("begin", part * share)
            end = loops.bind("end", tirx.min(begin + share, i32(rows)))
            with loops.loop("row", end - begin) as row, loops.loop("j", width) as j:
                loops.store(y, [begin + row, j], x[begin + row, j])
            with loops.loop("i", count) as i:
                given = loops.bind("given", places[i])
                low, high = begin.astype(inputs[1].dtype), end.astype(inputs[1].dtype)
                with loops.when(tirx.all(given >= low, given < high)), loops.loop("j", width) as j:
                    place = i32(given)
                    loops.store(y, [place, j], combine(y[place, j], updates[i, j]))
