"""Pass: tables move into the operator that reads their results, and tables that change nothing disappear.

Expects functions of one byte as lookups. A table that only a concatenation reads is applied while the bytes are moved.

    concat(past, lookup(x, table))   becomes   concat(past, x, table)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.concat import divide
from tvm_pulp.qnn.operator import spec_of

_BYTES = ("int8", "uint8")


class FuseLookups(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "lookup") and _keeps_values(value):
            return value.args[0]
        if qnn.is_qnn(value, "concat"):
            return self._concat(value)
        return value

    def _concat(self, call: Any) -> Any:
        attributes = qnn.attributes(call)
        parts, tables = divide(attributes, list(call.args))
        for number, part in enumerate(parts):
            inner = self.definition(part)
            is_table = inner is not None and qnn.is_qnn(inner, "lookup") and spec_of(part).dtype in _BYTES
            if number not in tables and is_table and self.uses(part) == 1:
                parts[number], tables[number] = inner.args[0], inner.args[1]
        numbers = sorted(tables)
        if not numbers:
            return call
        operands = [*parts, *(tables[n] for n in numbers)]
        return qnn.emit("concat", operands, {**attributes, "tables": numbers})


def _keeps_values(call: Any) -> bool:
    """Whether every byte becomes itself."""
    spec, table = spec_of(call.args[0]), constant(call.args[1])
    low, high = spec.range
    return str(table.dtype) == spec.dtype and bool((table == np.arange(low, high + 1)).all())
