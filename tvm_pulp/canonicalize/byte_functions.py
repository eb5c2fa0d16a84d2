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


class ByteFunctions(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "lookup"):
            return self._lookup(value.args[0], constant(value.args[1]))
        if not any(qnn.is_qnn(value, name) for name in _FUNCTIONS):
            return value
        constants = [constant(a) for a in value.args[1:]]
        source = spec_of(value.args[0])
        if source.dtype not in _BYTES or any(c is None or c.size != 1 for c in constants):
            return value
        name, attributes = value.op.name.removeprefix(PREFIX), qnn.attributes(value)
        if attributes.get("operands", 1) != 1:
            return value
        low, high = source.range
        every = np.arange(low, high + 1).astype(source.dtype)
        if "axis" in attributes:
            attributes["axis"] = 0
        result = OPERATORS[name].reference(attributes, [every, *constants])
        if str(result.dtype) not in _BYTES:
            return value
        return self._lookup(value.args[0], result)

    def _lookup(self, source: Any, table: np.ndarray) -> Any:
        """One table, joined with the table before it when nobody else reads that."""
        inner = self.definition(source)
        if inner is not None and qnn.is_qnn(inner, "lookup") and self.uses(source) == 1:
            first = constant(inner.args[1])
            low = TensorSpec((), str(first.dtype)).range[0]
            source, table = inner.args[0], table[first.astype(np.int64) - low]
        return qnn.emit("lookup", [source, relax.const(np.ascontiguousarray(table))], {})
