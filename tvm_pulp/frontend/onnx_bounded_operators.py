"""Operators whose results have the size that one of their constant operands says."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import dtype_of

# No score is smaller, but for infinity.
_LOWEST = float(np.finfo(np.float32).min)


def _number(c: Conversion, place: int, default: float) -> float:
    """The one number of a constant operand."""
    given, held = c.operands(place + 1)[place], c.constant(place)
    refuse_if(given is not None and (held is None or held.size != 1), f"operand {place} must be one constant number")
    return default if held is None else float(held.reshape(-1)[0])


def _axis(axis: int, rank: int) -> int:
    refuse_if(not -rank <= axis < rank, f"axis {axis} does not exist in a shape of {rank} axes: export the model again")
    return axis % rank


def top_k(c: Conversion) -> Any:
    """Sorted, whether or not the model asks for it."""
    shape = c.shape()
    axis, k = _axis(c.attributes.get("axis", -1), len(shape)), int(_number(c, 1, float(c.attributes.get("k", 0))))
    refuse_if(not 1 <= k <= shape[axis], f"k is {k} for an axis of {shape[axis]} elements: export the model again")
    largest = bool(c.attributes.get("largest", 1))
    return relax.op.topk(c.inputs[0], k, axis, ret_type="both", largest=largest, dtype="int64")


def one_hot(c: Conversion) -> Any:
    """`on` where the index is the place along a new axis, else `off`; indices below zero count from the end."""
    indices, shape, values = c.inputs[0], c.shape(), c.constant(2)
    depth, axis = int(_number(c, 1, 0)), _axis(c.attributes.get("axis", -1), len(shape) + 1)
    refuse_if(values is None or values.size != 2 or depth < 1, "depth and the two values must be constants")
    assert values is not None
    check_shape("the result of OneHot", [*shape, depth], values.dtype.itemsize)
    wide = indices if dtype_of(indices) == "int64" else c.emit(relax.op.astype(indices, "int64"))
    apart = c.emit(relax.op.reshape(c.from_end(wide, depth), [*shape[:axis], 1, *shape[axis:]]))
    places = np.arange(depth, dtype=np.int64).reshape([depth if a == axis else 1 for a in range(len(shape) + 1)])
    off, on = (relax.const(v, str(values.dtype)) for v in values.reshape(-1))
    return relax.op.where(c.emit(relax.op.equal(apart, relax.const(places, "int64"))), on, off)


def compress(c: Conversion) -> Any:
    """Entries of an axis, or of the flat tensor, where a constant condition holds."""
    x, condition, shape = c.inputs[0], c.constant(1), c.shape()
    flat = "axis" not in c.attributes
    axis = 0 if flat else _axis(c.attributes["axis"], len(shape))
    x = c.emit(relax.op.reshape(x, [int(np.prod(shape))])) if flat else x
    chosen = np.flatnonzero(condition) if condition is not None else np.zeros(0, np.int64)
    refuse_if(not chosen.size or chosen[-1] >= (np.prod(shape) if flat else shape[axis]), "its condition picks nothing")
    return c.take(x, chosen, axis)


def cum_sum(c: Conversion) -> Any:
    axis = _axis(int(_number(c, 1, 0)), len(c.shape()))
    flags = {name: int(c.attributes.get(name, 0)) for name in ("exclusive", "reverse")}
    return qnn.emit("cumulative_sum", [c.inputs[0]], {"axis": axis, **flags})


def non_max_suppression(c: Conversion) -> Any:
    """As many rows as there may be: those behind the chosen boxes hold -1."""
    boxes, scores = c.shape(0), c.shape(1)
    fits = len(boxes) == len(scores) == 3 and boxes[2] == 4 and (boxes[0], boxes[1]) == (scores[0], scores[2])
    refuse_if(not fits, f"boxes of shape {boxes} and scores of shape {scores} do not fit each other")
    limit = min(int(_number(c, 2, 0)), boxes[1])
    refuse_if(limit < 1, "max_output_boxes_per_class is 0, nothing is chosen: state how many boxes are wanted")
    attributes = {
        "limit": limit,
        "overlap": _number(c, 3, 0.0),
        "score": max(_number(c, 4, _LOWEST), _LOWEST),
        "centred": int(c.attributes.get("center_point_box", 0)),
    }
    return qnn.emit("chosen_boxes", [c.emit(qnn.emit("non_max_suppression", c.inputs[:2], attributes))])


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "Compress": compress,
    "CumSum": cum_sum,
    "NonMaxSuppression": non_max_suppression,
    "OneHot": one_hot,
    "TopK": top_k,
}
