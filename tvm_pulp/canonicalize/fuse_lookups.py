"""Pass: tables move into the operator that reads their results, and tables that change nothing disappear.

Expects functions of one byte as lookups. A table that only a concatenation reads is applied while the bytes are moved,
one that only a product reads before the bytes are multiplied.

    concat(past, lookup(x, table))   becomes   concat(past, x, table)
    mul(lookup(x, table), y)         becomes   gate(x, y, table)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, require, spec_of
from tvm_pulp.qnn.concat import ConcatAttributes, divide
from tvm_pulp.qnn.record import PairAttributes, Requantized
from tvm_pulp.quick_records import changed


class FuseLookups(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "lookup") and _keeps_values(value):
            return value.args[0]
        if qnn.is_qnn(value, "mul"):
            return self._gate(value)
        require(qnn.is_qnn(value, "concat"))
        attributes = qnn.attributes(value, ConcatAttributes)
        parts, tables = divide(attributes, list(value.args))
        for number, part in enumerate(parts):
            inner = self.single(part, "lookup")
            if number not in tables and inner is not None and spec_of(part).dtype in qnn.BYTES:
                parts[number], tables[number] = inner.args[0], inner.args[1]
        numbers = sorted(tables)
        require(numbers)
        return qnn.emit("concat", [*parts, *(tables[n] for n in numbers)], changed(attributes, tables=tuple(numbers)))

    def _gate(self, value: Any) -> Any:
        """A product of int8 tensors, one of them a function of bytes, with one scale for all."""
        attributes, (a, b, *rest) = qnn.attributes(value, PairAttributes), value.args
        require(attributes.zero_point_a == attributes.zero_point_b == 0)
        require(attributes.requant.kind == "pulp" and all(spec_of(r).elements == 1 for r in rest))
        require(spec_of(a) == spec_of(b) and spec_of(a).dtype == "int8")
        inner = self.single(a, "lookup")
        if inner is None:
            inner, b = self.single(b, "lookup"), a
        require(inner is not None and constant(inner.args[1]) is not None)
        return qnn.emit("gate", [inner.args[0], b, inner.args[1], *rest], Requantized(requant=attributes.requant))


def _keeps_values(call: Any) -> bool:
    dtype, table = spec_of(call.args[0]).dtype, constant(call.args[1])
    return str(table.dtype) == dtype and bool((table == qnn.every_value(dtype)).all())
