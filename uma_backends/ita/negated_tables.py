"""Pass: the engine's GELU is minus GELU, so tables of GELU change their sign and the weights behind them too.

Expects canonical form. Where the activation unit computes a table only with its sign changed, and everything that reads
its results multiplies them by constant weights, table and weights are negated. Guarantees the same values elsewhere.

    y = dense(lookup(x, t), w)   becomes   y = dense(lookup(x, -t), -w)
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, readers_of
from tvm_pulp.qnn.lineage import bindings_of
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.quick_records import changed
from uma_backends.ita.activation_unit import unit_for


class NegatedTables(Rewriter):
    """Chooses in `start`, rewrites in `visit`."""

    def start(self, function: Any) -> None:
        readers = readers_of(function)
        self._old = {b.var: b.value for b in bindings_of(function)}
        self._negated = {
            variable
            for variable, value in self._old.items()
            if qnn.is_qnn(value, "lookup")
            and qnn.is_qnn(self._old.get(value.args[0]), "dense")
            and readers[variable]
            and all(_can_negate(call, position) for _, call, position in readers[variable])
            and _is_negative_unit(constant(value.args[1]))
        }

    def visit(self, variable: Any, value: Any) -> Any:
        if variable in self._negated:
            return qnn.emit("lookup", [value.args[0], relax.const(-constant(value.args[1]))], {})
        if qnn.is_qnn(value, "dense") and self._old[variable].args[0] in self._negated:
            stated = qnn.attributes(value, LinearAttributes)
            attributes = changed(stated, zero_point=-stated.zero_point)
            weight = relax.const(-constant(value.args[1]))
            return qnn.emit("dense", [value.args[0], weight, *value.args[2:]], attributes)
        return value


def _can_negate(reader: Any, position: int) -> bool:
    """Tell if a reader multiplies what it reads by weights that have an opposite."""
    weight = constant(reader.args[1]) if qnn.is_qnn(reader, "dense") and position == 0 else None
    return weight is not None and _has_opposite(weight)


def _is_negative_unit(table: Any) -> bool:
    usable = table is not None and _has_opposite(table)
    return usable and unit_for(table) is None and unit_for(-table) is not None


def _has_opposite(values: np.ndarray) -> bool:
    return values.dtype == np.int8 and int(values.min(initial=0)) > -128
