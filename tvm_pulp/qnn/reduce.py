"""Sum or mean over axes. The mean rounds half up: floor((sum + n/2) / n)."""

import math

import numpy as np

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, i32, register
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class ReduceAttributes(Attributes):
    """`kind` is sum or mean."""

    axes: tuple[int, ...]
    keepdims: bool
    kind: str


@register("reduce", attributes=ReduceAttributes)
class Reduce(Operator[ReduceAttributes]):
    def infer(self, attributes: ReduceAttributes, inputs: Specs) -> TensorSpec:
        axes, keep = attributes.axes, attributes.keepdims
        shape = [1 if i in axes else d for i, d in enumerate(inputs[0].shape) if keep or i not in axes]
        return TensorSpec(tuple(shape), inputs[0].dtype if attributes.kind == "mean" else "int32")

    def reference(self, attributes: ReduceAttributes, inputs: Arrays) -> np.ndarray:
        x, axes = inputs[0].astype(np.int64), tuple(attributes.axes)
        total = x.sum(axis=axes, keepdims=bool(attributes.keepdims))
        if attributes.kind == "sum":
            return total.astype(np.int32)
        count = math.prod(x.shape[a] for a in axes)
        return ((total + count // 2) // count).astype(inputs[0].dtype)

    def body(self, loops: Loops, attributes: ReduceAttributes, inputs: Specs, output: TensorSpec) -> None:
        axes = attributes.axes
        x = loops.buffer("x", inputs[0])
        kept = [d for i, d in enumerate(inputs[0].shape) if i not in axes]
        y = loops.buffer("y", output.flat)
        count = math.prod(inputs[0].shape[a] for a in axes)
        with loops.parallel("place", output.elements) as place:
            outer = iter(loops.unravel("outer", place, kept))
            fixed = {i: next(outer) for i in range(len(inputs[0].shape)) if i not in axes}
            total = loops.scalar("total", 0)
            with loops.nest([f"r{a}" for a in axes], [inputs[0].shape[a] for a in axes]) as inner:
                index = {**fixed, **dict(zip(axes, inner, strict=True))}
                total.set(total.value + i32(x[tuple(index[i] for i in range(len(index)))]))
            value = total.value
            if attributes.kind == "mean":
                value = call("floor_divide_32", total.value + count // 2, count)
            loops.store(y, [place], value.astype(output.dtype))
