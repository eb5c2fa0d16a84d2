"""Pass: rotary position embedding of a quantize/dequantize graph becomes one operator.

Expects the integer dialect with functions of bytes as tables. Matches x * cos + rotate_half(x) * sin

    add(mul(x, cosine), mul(concat([lookup](upper half of x), [lookup](lower half of x)), sine))

where cosine and sine depend on the position only. A transpose of heads and positions in front of it moves behind it,
where attention reads through it.
"""

import math
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import is_swap, swapped
from tvm_pulp.canonicalize.qdq_products import product_attributes, rounding_attributes, rounds_to_bytes
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, or_none, require, spec_of
from tvm_pulp.qnn.add import AddAttributes
from tvm_pulp.qnn.concat import ConcatAttributes
from tvm_pulp.qnn.indexing import SliceAttributes


class FuseQdqRope(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "add") and qnn.attributes(value, AddAttributes).form == "half_even")
        found = [rope for rope in (self._rope(value, 0, 1), self._rope(value, 1, 0)) if rope is not None]
        require(found)
        return found[0]

    @or_none
    def _rope(self, total: Any, first: int, second: int) -> Any:
        kept, crossed = (self.definition(total.args[i]) for i in (first, second))
        require(all(qnn.is_qnn(product, "mul") and rounds_to_bytes(product) for product in (kept, crossed)))
        joins = [qnn.is_qnn(self.definition(a), "concat") for a in crossed.args[:2]]
        require(any(joins))
        rotated = joins.index(True)
        x, tables = self._rotated(self.definition(crossed.args[rotated]))
        straight = needed(next((i for i in (0, 1) if kept.args[i].same_as(x)), None))
        spec = spec_of(x)
        require(len(spec.shape) == 4 and spec.shape[0] == 1 and spec.dtype in qnn.BYTES)
        angles = (kept.args[1 - straight], crossed.args[1 - rotated])
        axes = {_position_axis(spec_of(angle).shape, spec.shape) for angle in angles}
        require(len(axes) == 1 and all(spec_of(a).dtype in qnn.BYTES for a in angles))
        attributes = _attributes(total, (first, second), (kept, straight), (crossed, rotated))
        axis, moved = axes.pop(), self.definition(x)
        if not is_swap(moved):
            return qnn.emit("qdq_rope", [x, *angles, *tables], {**attributes, "position_axis": axis})
        behind = qnn.emit("qdq_rope", [moved.args[0], *angles, *tables], {**attributes, "position_axis": 3 - axis})
        return swapped(self.emit(behind))

    def _rotated(self, concat: Any) -> tuple[Any, list[np.ndarray]]:
        """x and the tables of both halves of concat(upper half of x, lower half of x)."""
        require(len(concat.args) == 2)
        (x, begin, upper), (other, start, lower) = (self._half(part) for part in concat.args)
        shape = spec_of(x).shape
        require(qnn.attributes(concat, ConcatAttributes).axis == len(shape) - 1 and x.same_as(other))
        require(shape[-1] % 2 == 0 and (begin, start) == (shape[-1] // 2, 0))
        return x, [upper, lower]

    def _half(self, expression: Any) -> tuple[Any, int, np.ndarray]:
        """Tensor, first element and table of half of its last axis."""
        call, table = self.definition(expression), None
        if qnn.is_qnn(call, "lookup"):
            table = constant(call.args[1])
            call = self.definition(call.args[0])
        require(qnn.is_qnn(call, "slice"))
        attributes, x = qnn.attributes(call, SliceAttributes), spec_of(call.args[0])
        begin, size = attributes.begin, attributes.size
        require(size[:-1] == x.shape[:-1] and not any(begin[:-1]) and set(attributes.stride) == {1})
        require(2 * size[-1] == x.shape[-1])
        return call.args[0], begin[-1], qnn.every_value(x.dtype) if table is None else table


def _position_axis(angles: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """The axis of x that cosines and sines run along beside the last, which must be one."""
    full = (1,) * (len(shape) - len(angles)) + angles
    require(full[0] == 1 and full[-1] == shape[-1])
    if full[1] == 1 and full[2] == shape[2]:
        return 2
    require(full[2] == 1 and full[1] == shape[1])
    return 1


def _attributes(total: Any, order: tuple[int, int], kept: tuple[Any, int], crossed: tuple[Any, int]) -> dict[str, Any]:
    outer = qnn.attributes(total)
    attributes = rounding_attributes(qnn.Requant.of(outer))
    names = (("kept", kept, "x", "cosine"), ("turned", crossed, "partner", "sine"))
    for (name, (call, place), data, angle), side in zip(names, order, strict=True):
        inner = product_attributes(call)
        # The sum must take out the zero point that the product put in.
        require(outer[f"zero_point_{'ab'[side]}"] == inner["zero_point"])
        weight = np.float32(math.ldexp(outer["multipliers"][side], -outer["shift"]))
        attributes |= {f"{name}_{n}": inner[n] for n in ("scale", "low", "high")}
        attributes |= {f"{name}_weight": float(weight), f"zero_point_{data}": inner[f"zero_point_{'ab'[place]}"]}
        attributes[f"zero_point_{angle}"] = inner[f"zero_point_{'ab'[1 - place]}"]
    return attributes
