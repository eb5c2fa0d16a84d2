"""Product over axes of numbers without their zero point, brought back to scale after every factor.

TFLite's REDUCE_PROD, bit for bit: the first factor as it is, after each further one and once more at the end
`(value * multiplier + half) >> shift` in 64 bits, of which 32 are kept. Factors come in the order of memory. `offset`
is the zero point of the result, which has the element type of `x`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.qnn.either import clip, either
from tvm_pulp.qnn.fixed_point import quantize_multiplier
from tvm_pulp.qnn.loops import unravel
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, i64, less, register
from tvm_pulp.qnn.tensor_spec import RANGES
from tvm_pulp.quick_records import quick_record

# Bits behind the point of a multiplier, which is below one.
_BITS = 15

_long = either(lambda value: value.astype(np.int64), i64)
_short = either(lambda value: value.astype(np.int32), i32)


@quick_record(kw_only=True, slots=False)
class ProductAttributes(Attributes):
    """The scale after every factor."""

    axes: tuple[int, ...]
    keepdims: bool
    multiplier: int
    offset: int
    shift: int
    zero_point: int


def parameters(scale: float, result_scale: float, count: int) -> dict[str, int] | None:
    """Multiplier and shift for `count` factors; None for a scale so small beside that of `x` that no shift remains."""
    multiplier, exponent = quantize_multiplier(scale / math.pow(result_scale, 1.0 / count))
    short = min((multiplier + (1 << 15)) >> 16, (1 << _BITS) - 1)
    return {"multiplier": short, "shift": _BITS - exponent} if exponent < _BITS else None


@register("product", attributes=ProductAttributes, operands="x", result="x")
class Product(Operator[ProductAttributes]):
    def infer(self, attributes: ProductAttributes, inputs: Specs) -> TensorSpec:
        axes, keep = attributes.axes, attributes.keepdims
        shape = [1 if i in axes else d for i, d in enumerate(inputs[0].shape) if keep or i not in axes]
        return TensorSpec(tuple(shape), inputs[0].dtype)

    def reference(self, attributes: ProductAttributes, inputs: Arrays) -> np.ndarray:
        (x,), axes = inputs, attributes.axes
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        rows = x.transpose(*kept, *axes).reshape(math.prod(x.shape[a] for a in kept), -1).astype(np.int64)
        factors = less(rows, attributes.zero_point)
        value = factors[:, 0]
        for place in range(1, factors.shape[1]):
            value = _scaled(attributes, value * factors[:, place])
        made = _result(attributes, value, x.dtype.name)
        return made.reshape(self.infer(attributes, [TensorSpec(x.shape, x.dtype.name)]).shape)

    def body(self, loops: Loops, attributes: ProductAttributes, inputs: Specs, output: TensorSpec) -> None:
        axes, shape = attributes.axes, inputs[0].shape
        x, y = loops.buffers("x y", (inputs[0], output.flat))
        kept, reduced = ([d for i, d in enumerate(shape) if (i in axes) == inside] for inside in (False, True))

        def factor(outer: list[Any], inner: list[Any]) -> Any:
            places = iter(outer), iter(inner)
            index = tuple(next(places[axis in axes]) for axis in range(len(shape)))
            return less(i32(x[index]), attributes.zero_point)

        more = math.prod(reduced) - 1
        with loops.parallel("place", output.elements) as place:
            outer = loops.unravel("outer", place, kept)
            value = loops.scalar("value", factor(outer, [i32(0) for _ in axes]))
            if more:
                with loops.loop("r", more) as r:
                    other = factor(outer, unravel(r + 1, reduced))
                    value.set(_scaled(attributes, i64(value.value) * i64(other)))
            loops.store(y, [place], _result(attributes, value.value, output.dtype, loops.bind))


def _scaled(attributes: ProductAttributes, product: Any) -> Any:
    half = 1 << (attributes.shift - 1)
    return _short((product * attributes.multiplier + half) >> attributes.shift)


def _result(
    attributes: ProductAttributes, value: Any, dtype: str, bind: Callable[[str, Any], Any] = lambda _name, made: made
) -> Any:
    offset = attributes.offset
    low, high = (end - offset for end in RANGES[dtype])
    scaled = bind("scaled", _scaled(attributes, _long(value)))
    return (clip(scaled, low, high) + offset).astype(dtype)
