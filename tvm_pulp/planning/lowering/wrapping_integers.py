"""Sums, differences and products of integer tensors as unsigned numbers: those wrap, C says nothing of signed ones.

Shorter types than `int` are computed as `int` in C, which holds them all but products of `uint16`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import te, tirx

from tvm_pulp.canonicalize.rewriter import constant
from tvm_pulp.qnn.operator import spec_of

Lowering = Callable[[Any, Any], Any]
_UNSIGNED = {"int32": "uint32", "int64": "uint64"}


def _lowering(name: str, formula: Callable[..., Any], more: dict[str, str] | None = None) -> Lowering:
    """Of an element-wise operator; types of which C holds all results keep TVM's own rule."""
    unsigned = _UNSIGNED | (more or {})

    def lower(builder: Any, call: Any) -> Any:
        spec = spec_of(call)
        if spec.dtype not in unsigned:
            return tvm.ir.Op.get(f"relax.{name}").get_attr("FLegalize")(builder, call)

        def compute(*operands: Any) -> Any:
            def element(*place: Any) -> Any:
                values = [_at(operand, place).astype(unsigned[spec.dtype]) for operand in operands]
                return formula(*values).astype(spec.dtype)

            return te.compute(spec.shape, element, name="result", tag="broadcast")

        operands = list(call.args)
        for place, argument in enumerate(operands):
            number = _number(argument, unsigned[spec.dtype])
            if number is not None and len(operands) > 1:
                operands[place] = number
                break
        return builder.call_te(compute, *operands, primfunc_name_hint=name)

    return lower


def _number(argument: Any, dtype: str) -> Any:
    """An operand that is one constant number, unsigned; None for others and for those that TVM has no constant for."""
    array = constant(argument)
    if array is None or array.ndim:
        return None
    number = int(array) % (1 << np.iinfo(dtype).bits)
    return tirx.const(number, dtype) if number < 1 << 63 else None


def _at(operand: Any, place: Sequence[Any]) -> Any:
    """An element of an operand that is broadcast."""
    if not isinstance(operand, te.Tensor):
        return operand
    own = place[len(place) - len(operand.shape) :]
    return operand(*(0 if int(size) == 1 else i for size, i in zip(operand.shape, own, strict=True)))


WRAPPING: dict[str, Lowering] = {
    "relax.add": _lowering("add", lambda a, b: a + b),
    "relax.subtract": _lowering("subtract", lambda a, b: a - b),
    "relax.multiply": _lowering("multiply", lambda a, b: a * b, {"uint16": "uint32"}),
    "relax.negative": _lowering("negative", lambda a: 0 - a),
}
