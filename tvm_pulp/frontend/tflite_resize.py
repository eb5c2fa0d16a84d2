"""TFLite's RESIZE_BILINEAR of integers, as its reference kernel computes it: weights of ten bits, rounded once.

The kernel resizes the integers themselves: a half is rounded away from zero, not from the zero point.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.frontend.tflite_options import options_of
from tvm_pulp.qnn.tensor_spec import RANGES

_BITS = 10
_ONE = 1 << _BITS
_KINDS = ("int8", "uint8")


def resize_bilinear(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    data, wanted = converter.get_input_tensors(op)
    dtype = converter.get_tensor_type_str(data.tensor.Type())
    if dtype not in _KINDS:
        return upstream(op)
    options = options_of(op, "ResizeBilinearOptions")
    sizes = [int(d) for d in converter.get_tensor_shape(data)][1:3]
    goals = [int(d) for d in converter.get_tensor_value(wanted)]
    tables = [
        _taps(size, goal, aligned=options.AlignCorners(), centred=options.HalfPixelCenters())
        for size, goal in zip(sizes, goals, strict=True)
    ]
    # Twice the weights of rows: the first rounding of the rule then halves an even number.
    (rows, row_weights), (columns, column_weights) = tables
    tensors = [rows, row_weights * 2, columns, column_weights, np.array([1 << 30]), np.array([-2 * _BITS])]
    low, high = RANGES[dtype]
    rule = qnn.Requant("tflite", 0, 0, low, high, dtype=dtype)
    attributes = {
        **rule.attributes(),
        "layout": "NHWC",
        "taps": [2, 2],
        "bits": [_BITS + 1, _BITS],
        "middle": 0,
        "zero_point": 0,
        "ties": 0,
        "slack": 0,
    }
    return qnn.emit(
        "resize", [converter.get_tensor_expr(data), *(relax.const(t.astype(np.int32)) for t in tensors)], attributes
    )


def _taps(size: int, goal: int, *, aligned: bool, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """For every place of the result, two places of the input and their weights, which add up to one."""
    scale = (_ONE * size + goal // 2) // goal
    if aligned and goal > 1:
        scale = (_ONE * (size - 1) + (goal - 1) // 2) // (goal - 1)
    places = np.arange(goal, dtype=np.int64) * scale + (scale // 2 - _ONE // 2 if centred else 0)
    # Quotients are truncated; below zero both taps are the first place.
    first = np.clip(np.trunc(places / _ONE).astype(np.int64), 0, size - 1)
    second = np.minimum(np.trunc((places + _ONE - 1) / _ONE).astype(np.int64), size - 1)
    share = places - _ONE * first
    return np.stack([first, second], axis=1), np.stack([_ONE - share, share], axis=1)
