"""Pass: functions of one byte become tables.

Expects dialect operators in canonical form. An operator whose 8-bit result depends on one 8-bit value and on constants
only (a requantization, hardswish, gelu, a division by a constant, TFLite's sum or product with a number) is a table of
256 entries; chains of such operators are one table. Guarantees the same values.

    integer_div -> requantize -> hardswish   becomes   lookup(table)
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, or_none, require, spec_of

_FUNCTIONS = ("requantize", "hardswish", "gelu", "integer_div")
# Those of other files become part of larger operators.
_OF_TFLITE = ("add", "mul")


@or_none
def byte_table(call: Any) -> np.ndarray:
    """The 256 bytes that an operator makes of every byte of the operand that is not constant, or None."""
    if qnn.is_qnn(call, "lookup"):
        return np.asarray(constant(call.args[1]))
    require(qnn.is_qnn(call, *_FUNCTIONS, *_OF_TFLITE))
    attributes, source = dict(qnn.attributes(call)), source_of(call)
    require(qnn.is_qnn(call, *_FUNCTIONS) or attributes["requant"] == "tflite")
    operands = [None if i == source else needed(constant(a)) for i, a in enumerate(call.args)]
    spec = spec_of(call.args[source])
    require(all(o is None or (o.size == 1 and o.ndim <= max(1, len(spec.shape))) for o in operands))
    require(spec.dtype in qnn.BYTES and attributes.get("operands", 1) == 1)
    if "axis" in attributes:
        attributes["axis"] = 0
    values = [qnn.every_value(spec.dtype) if o is None else o.reshape(1) for o in operands]
    operator = qnn.OPERATORS[qnn.name_of(call)]
    result = operator.reference(operator.stated(attributes), values)
    require(str(result.dtype) in qnn.BYTES)
    return result


def source_of(call: Any) -> int:
    """Place of the operand that a function of one byte is a function of."""
    return int(qnn.is_qnn(call, *_OF_TFLITE) and constant(call.args[0]) is not None)


class ByteFunctions(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        table = needed(byte_table(value))
        source = value.args[source_of(value)]
        # One table, joined with the table before it when nobody else reads that.
        inner = self.single(source, "lookup")
        if inner is not None:
            source, table = inner.args[0], qnn.looked_up(table, constant(inner.args[1]))
        return qnn.emit("lookup", [source, table], {})
