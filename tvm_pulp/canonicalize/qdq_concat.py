"""Concatenations of a quantize/dequantize graph.

Rounding works element by element, so it may come before parts are joined. Then each part ends in a quantization of its
own, and what leads to it can be integers even where others stay float: PyTorch's quantizers leave a concatenation in
floats and quantize it once, at the next layer.

    quantize(concat(dequantize(a), silu(dequantize(b)), f))   becomes   concat(requantize(a), lookup(b), quantize(f))
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_elementwise import clip, requantize
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter
from tvm_pulp.canonicalize.rewriter import or_none, require, spec_of


@or_none
def concat(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """All parts in the result's quantization, then joined; None where no part but constants is integer."""
    parts, axis = parts_and_axis(call)
    found = [_integers(fold, part, target) for part in parts]
    are_integers = [value is not None for value in found]
    # A quantize can do what the target says where no factor was folded into its scale.
    may_round = fold.arithmetic.name == "onnx" and isinstance(target.scale, np.float32)
    require(any(are_integers) and (all(are_integers) or may_round))
    joined = [
        _rounded(fold, part, target) if value is None else value for part, value in zip(parts, found, strict=True)
    ]
    return qnn.emit("concat", joined, {"axis": axis})


def parts_and_axis(call: Any) -> tuple[list[Any], int]:
    """Operands of a concatenation that are known one by one, and the axis that they are joined along."""
    require(isinstance(call.args[0], relax.Tuple) and len(call.args[0].fields) and call.attrs.axis is not None)
    return list(call.args[0].fields), int(call.attrs.axis) % len(spec_of(call).shape)


def _integers(fold: QdqRewriter, part: Any, target: IntegerTarget) -> Any:
    """A part that is integer, or that an island makes integer; None for constants and for floats."""
    x = fold.quantized(part)
    if x is not None:
        return fold.bound(requantize(fold, x, target))
    if fold.arithmetic.name != "onnx" or fold.real_constant(part) is not None:
        return None
    with fold.lineage.on_behalf_of(part):
        return fold.island(part, target)


def _rounded(fold: QdqRewriter, part: Any, target: IntegerTarget) -> Any:
    real = fold.real_constant(part)
    if real is not None:
        return relax.const(target.quantize(real))
    scale, zero_point = relax.const(np.float32(target.scale)), relax.const(np.array(target.zero_point, target.dtype))
    value = fold.emit(relax.op.quantize(part, scale, zero_point, axis=0, out_dtype=target.dtype), part.name)
    whole = (target.low, target.high) == qnn.RANGES[target.dtype]
    return value if whole else fold.bound(clip(value, target.low, target.high))
