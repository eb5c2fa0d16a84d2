"""quantize and dequantize as layers of the dialect."""

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.float_map import emit_map, tree, type_of
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.quantize import TYPES, TYPES_AS_FLOATS, Dequantize

# Constants up to so many elements are kept as floats: converting them takes longer than the bytes they save.
_FEW = 1024


def quantize(rewriter: Rewriter, call: Any) -> Any:
    x, scale, zero_point = call.args
    spec, dtype = spec_of(x), str(call.attrs.out_dtype)
    parameters = {spec_of(scale).dtype, spec.dtype}
    if parameters != {"float32"} or dtype not in TYPES or not _fits(call):
        return None
    known = constant(scale)
    if known is not None:
        if not (known > 0).all():
            return None
        with np.errstate(all="ignore"):
            reciprocal = relax.const((np.float32(1) / known).astype(np.float32))
    else:
        one = relax.const(np.float32(1))
        reciprocal = rewriter.emit(relax.op.divide(one, scale))
    fused = _after_map(rewriter, call, dtype)
    if fused is not None:
        return fused
    attributes = {"axis": _axis(call), "dtype": dtype}
    return qnn.emit("quantize", [x, scale, reciprocal, zero_point], attributes)


def _after_map(rewriter: Rewriter, call: Any, dtype: str) -> Any:
    """A map that only this quantization reads ends in it; None where the parameters differ by channel."""
    x, *parameters = call.args
    made, held = rewriter.definition(x), [constant(p) for p in parameters]
    if not qnn.is_qnn(made, "float_map") or rewriter.uses(x) > 1 or any(p is None or p.size > 1 for p in held):
        return None
    scale, zero = (float(p.reshape(-1)[0]) for p in held)
    inside = tree(qnn.attributes(made))
    with np.errstate(all="ignore"):
        reciprocal = float(np.float32(1) / np.float32(scale))
    if not math.isfinite(reciprocal) or type_of(inside, [spec_of(a).dtype for a in made.args]) != "float32":
        return None
    expression = [f"quantize_{dtype}", inside, ["c", scale], ["c", reciprocal], ["c", zero]]
    return emit_map(expression, list(made.args), spec_of(call).shape)


def dequantize(_rewriter: Rewriter, call: Any) -> Any:
    x, scale, zero_point = call.args
    types = (spec_of(scale).dtype, str(call.attrs.out_dtype))
    if types != ("float32", "float32") or spec_of(x).dtype not in TYPES_AS_FLOATS or not _fits(call):
        return None
    attributes, held = {"axis": _axis(call)}, [constant(a) for a in call.args]
    if spec_of(x).elements <= _FEW and all(h is not None for h in held):
        return relax.const(Dequantize().reference(attributes, held))
    return qnn.emit("dequantize", [x, scale, zero_point], attributes)


def _axis(call: Any) -> int:
    rank = max(1, len(spec_of(call.args[0]).shape))
    return int(call.attrs.axis) % rank


def _fits(call: Any) -> bool:
    """Parameters hold one value or one per entry of the axis; zero points are integers of at most 32 bits."""
    shape = spec_of(call.args[0]).shape or (1,)
    sizes = {spec_of(p).elements for p in call.args[1:]}
    return sizes <= {1, shape[_axis(call)]} and spec_of(call.args[2]).dtype in TYPES_AS_FLOATS


CONVERTERS = {"relax.quantize": quantize, "relax.dequantize": dequantize}
