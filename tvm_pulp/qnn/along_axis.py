"""Operators that go through the entries of an axis one after the other: an order of them, running sums."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.quick_records import quick_record


@contextmanager
def _rows(loops: Loops, shape: Sequence[int], axis: int) -> Iterator[tuple[Any, Any, int]]:
    """Every row along an axis, shared by the cores: its number before and behind the axis, and entries behind it."""
    inner = math.prod(shape[axis + 1 :])
    with loops.parallel("row", math.prod(shape) // shape[axis]) as row:
        yield (*((row, i32(0)) if inner == 1 else loops.split(row, inner, "outer", "inner")), inner)


@quick_record(kw_only=True, slots=False)
class TopKAttributes(Attributes):
    """How many places of which axis, and their type."""

    axis: int
    dtype: str
    k: int
    largest: bool


@register("top_k", attributes=TopKAttributes, operands="x")
class TopK(Operator[TopKAttributes]):
    """Places of the `k` largest or smallest entries of an axis, in order; of equal ones the first comes first."""

    def infer(self, attributes: TopKAttributes, inputs: Specs) -> TensorSpec:
        shape, axis = inputs[0].shape, attributes.axis
        return TensorSpec((*shape[:axis], attributes.k, *shape[axis + 1 :]), attributes.dtype)

    def reference(self, attributes: TopKAttributes, inputs: Arrays) -> np.ndarray:
        x, axis = inputs[0], attributes.axis
        wide = x if x.dtype.kind == "f" else x.astype(np.int64)
        order = np.argsort(-wide if attributes.largest else wide, axis=axis, kind="stable")
        return np.ascontiguousarray(order.take(np.arange(attributes.k), axis=axis)).astype(attributes.dtype)

    def body(self, loops: Loops, attributes: TopKAttributes, inputs: Specs, output: TensorSpec) -> None:
        shape, axis, count, dtype = inputs[0].shape, attributes.axis, attributes.k, inputs[0].dtype
        x, y = loops.buffer("x", inputs[0].flat), loops.buffer("y", output.flat)

        def ahead(a: Any, b: Any) -> Any:
            return a > b if attributes.largest else a < b

        with _rows(loops, shape, axis) as (outer, inner, step):
            first = loops.bind("first", outer * (shape[axis] * step) + inner)
            # The entry that was found last: what comes next is behind it.
            last, last_at = loops.scalar("last", 0, dtype), loops.scalar("last_at", -1)
            with loops.loop("k", count) as k:
                best, best_at = loops.scalar("best", 0, dtype), loops.scalar("best_at", -1)
                with loops.loop("i", shape[axis]) as i:
                    value = loops.bind("value", x[first + i * step])
                    behind = tirx.any(ahead(last.value, value), tirx.all(value == last.value, i > last_at.value))
                    better = tirx.any(best_at.value < 0, ahead(value, best.value))
                    # The first of all is behind nothing.
                    with loops.when(better), loops.when(tirx.any(last_at.value < 0, behind)):
                        best.set(value)
                        best_at.set(i)
                last.set(best.value)
                # A row of what is not a number has no order; its places still lie inside.
                last_at.set(tirx.max(best_at.value, i32(0)))
                loops.store(y, [(outer * count + k) * step + inner], last_at.value.astype(output.dtype))


@quick_record(kw_only=True, slots=False)
class AxisAttributes(Attributes):
    """The axis that is gone along."""

    axis: int


@register("take_along", attributes=AxisAttributes, operands="x places")
class TakeAlong(Operator[AxisAttributes]):
    """Entries of an axis by places of their own for every row, all of them inside. Operands: x, places."""

    def infer(self, attributes: AxisAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(inputs[1].shape, inputs[0].dtype)

    def reference(self, attributes: AxisAttributes, inputs: Arrays) -> np.ndarray:
        return np.take_along_axis(inputs[0], inputs[1].astype(np.int64), axis=attributes.axis)

    def body(self, loops: Loops, attributes: AxisAttributes, inputs: Specs, output: TensorSpec) -> None:
        axis = attributes.axis
        x, places, y = loops.buffers("x places y", (*inputs, output))
        with over(loops, output.shape) as indices:
            place = i32(places[tuple(indices)])
            loops.store(y, indices, x[(*indices[:axis], place, *indices[axis + 1 :])])


@quick_record(kw_only=True, slots=False)
class CumulativeSumAttributes(AxisAttributes):
    """Which entries a sum is of."""

    exclusive: bool
    reverse: bool


@register("cumulative_sum", attributes=CumulativeSumAttributes, operands="x", result="x")
class CumulativeSum(Operator[CumulativeSumAttributes]):
    """Sums of the entries of an axis up to each of them, or before it if `exclusive`; from the end if `reverse`."""

    def reference(self, attributes: CumulativeSumAttributes, inputs: Arrays) -> np.ndarray:
        x, axis = inputs[0], attributes.axis
        turned = np.moveaxis(x, axis, 0)[:: -1 if attributes.reverse else 1]
        sums, total = np.empty_like(turned), np.zeros(turned.shape[1:], x.dtype)
        with np.errstate(over="ignore"):
            for n, entry in enumerate(turned):
                sums[n] = total if attributes.exclusive else total + entry
                total = total + entry
        return np.ascontiguousarray(np.moveaxis(sums[:: -1 if attributes.reverse else 1], 0, axis))

    def body(self, loops: Loops, attributes: CumulativeSumAttributes, inputs: Specs, output: TensorSpec) -> None:
        shape, axis = inputs[0].shape, attributes.axis
        x, y = loops.buffer("x", inputs[0].flat), loops.buffer("y", output.flat)
        with _rows(loops, shape, axis) as (outer, inner, step):
            first = loops.bind("first", outer * (shape[axis] * step) + inner)
            total = loops.scalar("total", 0, inputs[0].dtype)
            with loops.loop("i", shape[axis]) as i:
                entry = shape[axis] - 1 - i if attributes.reverse else i
                place = loops.bind("place", first + entry * step)
                value = loops.bind("value", x[place])
                if attributes.exclusive:
                    loops.store(y, [place], total.value)
                total.set(total.value + value)
                if not attributes.exclusive:
                    loops.store(y, [place], total.value)
