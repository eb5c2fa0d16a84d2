"""quantize and dequantize as layers of the dialect."""

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import or_none, require
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.float_map import ExpressionAttributes, emit_map, tree, type_of
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.quantize import TYPES, TYPES_AS_FLOATS, Dequantize

# Constants up to so many elements are kept as floats: converting them takes longer than the bytes they save.
_FEW = 1024


def quantize(rewriter: Rewriter, call: Any) -> Any:
    x, scale, zero_point = call.args
    dtype, known = str(call.attrs.out_dtype), constant(scale)
    require({spec_of(scale).dtype, spec_of(x).dtype} == {"float32"} and dtype in TYPES and _fits(call))
    if known is None:
        reciprocal = rewriter.emit(relax.op.divide(relax.const(np.float32(1)), scale))
    else:
        require((known > 0).all())
        with np.errstate(all="ignore"):
            reciprocal = relax.const((np.float32(1) / known).astype(np.float32))
    fused, attributes = _after_map(rewriter, call, dtype), {"axis": _axis(call), "dtype": dtype}
    return qnn.emit("quantize", [x, scale, reciprocal, zero_point], attributes) if fused is None else fused


@or_none
def _after_map(rewriter: Rewriter, call: Any, dtype: str) -> Any:
    """A map that only this quantization reads ends in it; None where the parameters differ by channel."""
    x, *parameters = call.args
    made, held = rewriter.definition(x), [constant(p) for p in parameters]
    require(
        qnn.is_qnn(made, "float_map") and rewriter.uses(x) <= 1 and all(p is not None and p.size <= 1 for p in held)
    )
    scale, zero = (float(p.reshape(-1)[0]) for p in held)
    inside = tree(qnn.attributes(made, ExpressionAttributes))
    with np.errstate(all="ignore"):
        reciprocal = float(np.float32(1) / np.float32(scale))
    require(math.isfinite(reciprocal) and type_of(inside, [spec_of(a).dtype for a in made.args]) == "float32")
    expression = [f"quantize_{dtype}", inside, ["c", scale], ["c", reciprocal], ["c", zero]]
    return emit_map(expression, list(made.args), spec_of(call).shape)


def dequantize(_rewriter: Rewriter, call: Any) -> Any:
    x, scale, zero_point = call.args
    types = (spec_of(scale).dtype, str(call.attrs.out_dtype))
    require(types == ("float32", "float32") and spec_of(x).dtype in TYPES_AS_FLOATS and _fits(call))
    attributes, held = {"axis": _axis(call)}, [constant(a) for a in call.args]
    if spec_of(x).elements <= _FEW and all(h is not None for h in held):
        return relax.const(Dequantize().reference(Dequantize().stated(attributes), held))
    return qnn.emit("dequantize", [x, scale, zero_point], attributes)


def _axis(call: Any) -> int:
    return int(call.attrs.axis) % max(1, len(spec_of(call.args[0]).shape))


def _fits(call: Any) -> bool:
    """Parameters hold one value or one per entry of the axis; zero points are integers of at most 32 bits."""
    shape = spec_of(call.args[0]).shape or (1,)
    sizes = {spec_of(p).elements for p in call.args[1:]}
    return sizes <= {1, shape[_axis(call)]} and spec_of(call.args[2]).dtype in TYPES_AS_FLOATS


CONVERTERS = {"relax.quantize": quantize, "relax.dequantize": dequantize}
