"""Pass: functions of one byte become tables.

Expects dialect operators in canonical form. An operator whose 8-bit result depends on one 8-bit value and on constants
only (a requantization, hardswish, gelu, a division by a constant) is a table of 256 entries; chains of such operators
are one table. Guarantees the same values.

    integer_div -> requantize -> hardswish   becomes   lookup(table)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import OPERATORS, PREFIX, spec_of
from tvm_pulp.qnn.tensor_spec import TensorSpec

_FUNCTIONS = ("requantize", "hardswish", "gelu", "integer_div")
_BYTES = ("int8", "uint8")


def byte_table(call: Any) -> np.ndarray | None:
    """The 256 bytes that an operator makes of every byte of its first operand, or None."""
    if qnn.is_qnn(call, "lookup"):
        return np.asarray(constant(call.args[1]))
    if not any(qnn.is_qnn(call, name) for name in _FUNCTIONS):
        return None
    constants = [constant(a) for a in call.args[1:]]
    source = spec_of(call.args[0])
    if source.dtype not in _BYTES or any(c is None or c.size != 1 for c in constants):
        return None
    name, attributes = call.op.name.removeprefix(PREFIX), qnn.attributes(call)
    if attributes.get("operands", 1) != 1:
        return None
    low, high = source.range
    every = np.arange(low, high + 1).astype(source.dtype)
    if "axis" in attributes:
        attributes["axis"] = 0
    result = OPERATORS[name].reference(attributes, [every, *constants])
    return result if str(result.dtype) in _BYTES else None


class ByteFunctions(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        table = byte_table(value)
        return value if table is None else self._lookup(value.args[0], table)

    def _lookup(self, source: Any, table: np.ndarray) -> Any:
        """One table, joined with the table before it when nobody else reads that."""
        inner = self.definition(source)
        if inner is not None and qnn.is_qnn(inner, "lookup") and self.uses(source) == 1:
            first = constant(inner.args[1])
            low = TensorSpec((), str(first.dtype)).range[0]
            source, table = inner.args[0], table[first.astype(np.int64) - low]
        return qnn.emit("lookup", [source, relax.const(np.ascontiguousarray(table))], {})
