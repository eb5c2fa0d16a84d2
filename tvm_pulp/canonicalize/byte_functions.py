"""Pass: functions of one byte become tables.

Expects dialect operators in canonical form. An operator whose 8-bit result depends on one 8-bit value and on constants
only (a requantization, hardswish, gelu, a division by a constant) is a table of 256 entries; chains of such operators
are one table. Guarantees the same values.

    integer_div -> requantize -> hardswish   becomes   lookup(table)
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, or_none, require, spec_of

_FUNCTIONS = ("requantize", "hardswish", "gelu", "integer_div")


@or_none
def byte_table(call: Any) -> np.ndarray:
    """The 256 bytes that an operator makes of every byte of its first operand, or None."""
    if qnn.is_qnn(call, "lookup"):
        return np.asarray(constant(call.args[1]))
    require(qnn.is_qnn(call, *_FUNCTIONS))
    constants, attributes = [needed(constant(a)) for a in call.args[1:]], qnn.attributes(call)
    source = spec_of(call.args[0])
    require(source.dtype in qnn.BYTES and all(c.size == 1 for c in constants) and attributes.get("operands", 1) == 1)
    if "axis" in attributes:
        attributes["axis"] = 0
    result = qnn.OPERATORS[qnn.name_of(call)].reference(attributes, [qnn.every_value(source.dtype), *constants])
    require(str(result.dtype) in qnn.BYTES)
    return result


class ByteFunctions(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        table = needed(byte_table(value))
        source = value.args[0]
        # One table, joined with the table before it when nobody else reads that.
        inner = self.single(source, "lookup")
        if inner is not None:
            source, table = inner.args[0], qnn.looked_up(table, constant(inner.args[1]))
        return qnn.emit("lookup", [source, table], {})
