"""TFLite's REDUCE_PROD of integers, whose kernel brings the product back to scale after every factor."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.frontend.tflite_operators import options_of, scale_of, zero_point_of
from tvm_pulp.qnn import product

# Those the kernel computes so.
_KINDS = ("int8", "int16")


def reduce_prod(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    """Products of one tensor along axes."""
    (x, axes), (y,) = converter.get_input_tensors(op), converter.get_output_tensors(op)
    dtypes = {converter.get_tensor_type_str(t.tensor.Type()) for t in (x, y)}
    along = converter.known_value(axes)
    if along is None or not (x.qnn_params and y.qnn_params and len(dtypes) == 1 and dtypes <= {*_KINDS}):
        return upstream(op)
    shape = [int(d) for d in converter.get_tensor_shape(x)]
    reduced = sorted({int(axis) % len(shape) for axis in np.reshape(along, -1)}) if shape else []
    count = math.prod(shape[axis] for axis in reduced)
    scaling = product.parameters(scale_of(x), scale_of(y), count) if count else None
    if scaling is None:
        return upstream(op)
    attributes = {
        "axes": reduced,
        "keepdims": int(bool(op.BuiltinOptions()) and bool(options_of(op, "ReducerOptions").KeepDims())),
        "zero_point": zero_point_of(x),
        "offset": zero_point_of(y),
        **scaling,
    }
    return qnn.emit("product", [converter.get_tensor_expr(x)], attributes)
