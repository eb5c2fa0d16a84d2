"""Pass: rotary position embedding of a quantize/dequantize graph becomes one operator.

Expects the integer dialect with functions of bytes as tables. Matches x * cos + rotate_half(x) * sin

    add(mul(x, cosine), mul(concat([lookup](upper half of x), [lookup](lower half of x)), sine))

where cosine and sine depend on the position only. A transpose of heads and positions in front of it moves behind it,
where attention reads through it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_products import product_attributes
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of

_SWAP = [0, 2, 1, 3]
_BYTES = ("int8", "uint8")


class FuseQdqRope(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "add") or qnn.attributes(value)["form"] != "half_even":
            return value
        for first, second in ((0, 1), (1, 0)):
            fused = self._rope(value, first, second)
            if fused is not None:
                return fused
        return value

    def _rope(self, total: Any, first: int, second: int) -> Any:
        kept, turned = (self.definition(total.args[i]) for i in (first, second))
        if not all(qnn.is_qnn(product, "mul") and _rounds(product) for product in (kept, turned)):
            return None
        rotated = next((i for i in (0, 1) if qnn.is_qnn(self.definition(turned.args[i]), "concat")), None)
        if rotated is None:
            return None
        found = self._rotated(self.definition(turned.args[rotated]))
        if found is None:
            return None
        x, tables = found
        straight = next((i for i in (0, 1) if kept.args[i].same_as(x)), None)
        shape = spec_of(x).shape
        if straight is None or len(shape) != 4 or shape[0] != 1 or spec_of(x).dtype not in _BYTES:
            return None
        angles = (kept.args[1 - straight], turned.args[1 - rotated])
        axes = {_position_axis(spec_of(angle).shape, shape) for angle in angles}
        if len(axes) != 1 or None in axes or any(spec_of(a).dtype not in _BYTES for a in angles):
            return None
        attributes = _attributes(total, (first, second), (kept, straight), (turned, rotated))
        if attributes is None:
            return None
        attributes["position_axis"] = axes.pop()
        constants = [relax.const(table) for table in tables]
        moved = self.definition(x)
        if qnn.is_qnn(moved, "transpose") and qnn.attributes(moved)["axes"] == _SWAP:
            attributes["position_axis"] = 3 - attributes["position_axis"]
            fused = self.emit(qnn.emit("qdq_rope", [moved.args[0], *angles, *constants], attributes))
            return qnn.emit("transpose", [fused], {"axes": _SWAP})
        return qnn.emit("qdq_rope", [x, *angles, *constants], attributes)

    def _rotated(self, concat: Any) -> tuple[Any, list[np.ndarray]] | None:
        """x and the tables of both halves of concat(upper half of x, lower half of x)."""
        if len(concat.args) != 2:
            return None
        first, second = (self._half(part) for part in concat.args)
        if first is None or second is None:
            return None
        (x, begin, upper), (other, start, lower) = first, second
        shape = spec_of(x).shape
        size, last = shape[-1], len(shape) - 1
        joined = qnn.attributes(concat)["axis"] == last and x.same_as(other)
        return (x, [upper, lower]) if joined and size % 2 == 0 and (begin, start) == (size // 2, 0) else None

    def _half(self, expression: Any) -> tuple[Any, int, np.ndarray] | None:
        """Tensor, first element and table of half of its last axis."""
        call, table = self.definition(expression), None
        if qnn.is_qnn(call, "lookup"):
            table = constant(call.args[1])
            call = self.definition(call.args[0])
        if not qnn.is_qnn(call, "slice"):
            return None
        attributes, x = qnn.attributes(call), spec_of(call.args[0])
        begin, size = attributes["begin"], attributes["size"]
        rest = size[:-1] == list(x.shape[:-1]) and not any(begin[:-1]) and set(attributes["stride"]) == {1}
        if not rest or 2 * size[-1] != x.shape[-1]:
            return None
        itself = np.arange(x.range[0], x.range[1] + 1).astype(x.dtype)
        return call.args[0], begin[-1], itself if table is None else table


def _rounds(product: Any) -> bool:
    rule = qnn.Requant.of(qnn.attributes(product))
    return rule.kind in ("half_even", "half_up") and rule.out_dtype in _BYTES and constant(product.args[2]).size == 1


def _position_axis(angles: tuple[int, ...], shape: tuple[int, ...]) -> int | None:
    """The axis of x that cosines and sines run along beside the last; None where it is another one or several."""
    full = (1,) * (len(shape) - len(angles)) + angles
    if full[0] != 1 or full[-1] != shape[-1]:
        return None
    if full[1] == 1 and full[2] == shape[2]:
        return 2
    return 1 if full[2] == 1 and full[1] == shape[1] else None


def _attributes(
    total: Any, order: tuple[int, int], kept: tuple[Any, int], turned: tuple[Any, int]
) -> dict[str, Any] | None:
    outer = qnn.attributes(total)
    rule = qnn.Requant.of(outer)
    attributes: dict[str, Any] = {
        "low": rule.low - rule.zero_point,
        "high": rule.high - rule.zero_point,
        "zero_point": rule.zero_point,
        "dtype": rule.out_dtype,
    }
    names = (("kept", kept, "x", "cosine"), ("turned", turned, "partner", "sine"))
    for (name, (call, place), data, angle), side in zip(names, order, strict=True):
        inner = product_attributes(qnn.attributes(call), call.args[2:])
        # The sum must take out the zero point that the product put in.
        if outer[f"zero_point_{'ab'[side]}"] != inner["zero_point"]:
            return None
        weight = np.float32(math.ldexp(outer["multipliers"][side], -outer["shift"]))
        attributes |= {f"{name}_{n}": inner[n] for n in ("scale", "low", "high")}
        attributes |= {f"{name}_weight": float(weight), f"zero_point_{data}": inner[f"zero_point_{'ab'[place]}"]}
        attributes[f"zero_point_{angle}"] = inner[f"zero_point_{'ab'[1 - place]}"]
    return attributes
