"""Matrix products of floats as layers of the dialect; a constant vector that is added becomes their bias."""

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op
from tvm_pulp.planning.lowering.floats import float_spec
from tvm_pulp.qnn.operator import name_of, spec_of


def matmul(rewriter: Rewriter, call: Any) -> Any:
    a, b = call.args
    shape = float_spec(a).shape
    require(len(shape) >= 2 and len(float_spec(b).shape) >= 2)
    transposed, made = False, rewriter.definition(b)
    if qnn.is_qnn(made, "transpose"):
        axes = qnn.attributes(made)["axes"]
        if axes == [*range(len(axes) - 2), len(axes) - 1, len(axes) - 2]:
            b, transposed = made.args[0], True
    attributes = {"transpose_b": transposed}
    if len(shape) == 2 or len(spec_of(b).shape) > 2:
        return qnn.emit("float_matmul", [a, b], attributes)
    # All rows meet the same matrix: they are the rows of one product.
    rows = rewriter.emit(relax.op.reshape(a, (math.prod(shape[:-1]), shape[-1])), "rows")
    product = rewriter.emit(qnn.emit("float_matmul", [rows, b], attributes))
    return relax.op.reshape(product, spec_of(call).shape)


def with_bias(rewriter: Rewriter, call: Any) -> Any:
    """A sum of a product and a constant row, as one layer."""
    for product, other in (call.args, reversed(call.args)):
        bias = constant(other)
        if bias is None or bias.dtype != np.float32 or rewriter.uses(product) > 1:
            continue
        made = rewriter.definition(product)
        if is_op(made, "relax.reshape"):
            made = rewriter.definition(made.args[0])
        shape = spec_of(product).shape
        axis = {"float_matmul": len(shape) - 1, "float_conv2d": 1}.get(name_of(made))
        if axis is None or len(made.args) > 2 or shape != spec_of(call).shape:
            continue
        # One value per entry of the axis: all others are 1 long.
        along = (1,) * (len(shape) - bias.ndim) + bias.shape
        inner = spec_of(made).shape
        last = inner[-1] if name_of(made) == "float_matmul" else inner[1]
        if bias.size == shape[axis] == along[axis] == last:
            result = qnn.emit(name_of(made), [*made.args, relax.const(bias.reshape(-1))], qnn.attributes(made))
            return result if inner == shape else relax.op.reshape(rewriter.emit(result), shape)
    return None


CONVERTERS = {"relax.matmul": matmul}
