"""Pass: tables move into the operator that reads their results, and tables that change nothing disappear.

Expects functions of one byte as lookups. A table that only a concatenation reads is applied while the bytes are moved.

    concat(past, lookup(x, table))   becomes   concat(past, x, table)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, require, spec_of
from tvm_pulp.qnn.concat import divide


class FuseLookups(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "lookup") and _keeps_values(value):
            return value.args[0]
        require(qnn.is_qnn(value, "concat"))
        attributes = qnn.attributes(value)
        parts, tables = divide(attributes, list(value.args))
        for number, part in enumerate(parts):
            inner = self.single(part, "lookup")
            if number not in tables and inner is not None and spec_of(part).dtype in qnn.BYTES:
                parts[number], tables[number] = inner.args[0], inner.args[1]
        numbers = sorted(tables)
        require(numbers)
        return qnn.emit("concat", [*parts, *(tables[n] for n in numbers)], {**attributes, "tables": numbers})


def _keeps_values(call: Any) -> bool:
    dtype, table = spec_of(call.args[0]).dtype, constant(call.args[1])
    return str(table.dtype) == dtype and bool((table == qnn.every_value(dtype)).all())
