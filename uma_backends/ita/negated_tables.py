"""Pass: the engine's GELU is minus GELU, so tables of GELU change their sign and the weights behind them too.

Expects canonical form. Where the activation unit computes a table only with its sign changed, and everything that reads
its results multiplies them by constant weights, table and weights are negated. Guarantees the same values elsewhere.

    y = dense(lookup(x, t), w)   becomes   y = dense(lookup(x, -t), -w)
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from uma_backends.ita.activation_unit import unit_for


class NegatedTables(Rewriter):
    """Chooses in `start`, rewrites in `visit`."""

    def start(self, function: Any) -> None:
        bindings = [(b.var, b.value) for block in function.body.blocks for b in block.bindings]
        readers: dict[Any, list[Any]] = {}
        for _, value in bindings:
            for argument in value.args if isinstance(value, relax.Call) else [value]:
                for read in variables_of(argument):
                    readers.setdefault(read, []).append(value)
        for read in variables_of(function.body.body):
            readers.setdefault(read, []).append(None)
        made = dict(bindings)
        self._old = made
        self._negated = {
            variable
            for variable, value in bindings
            if qnn.is_qnn(value, "lookup")
            and qnn.is_qnn(made.get(value.args[0]), "dense")
            and all(_can_negate(reader, variable) for reader in readers.get(variable, [None]))
            and _is_negative_unit(constant(value.args[1]))
        }

    def visit(self, variable: Any, value: Any) -> Any:
        if variable in self._negated:
            return qnn.emit("lookup", [value.args[0], relax.const(-constant(value.args[1]))], {})
        if qnn.is_qnn(value, "dense") and self._old[variable].args[0] in self._negated:
            attributes = qnn.attributes(value)
            attributes["zero_point"] = -attributes["zero_point"]
            weight = relax.const(-constant(value.args[1]))
            return qnn.emit("dense", [value.args[0], weight, *value.args[2:]], attributes)
        return value


def variables_of(expression: Any) -> list[Any]:
    """Variables that an expression reads."""
    if isinstance(expression, relax.Var):
        return [expression]
    if isinstance(expression, relax.Tuple):
        return [v for field in expression.fields for v in variables_of(field)]
    if isinstance(expression, relax.TupleGetItem):
        return variables_of(expression.tuple_value)
    return []


def _can_negate(reader: Any, variable: Any) -> bool:
    """Tell if a reader multiplies the variable by weights that have an opposite."""
    if reader is None or not qnn.is_qnn(reader, "dense") or not reader.args[0].same_as(variable):
        return False
    weight = constant(reader.args[1])
    return weight is not None and weight.dtype == np.int8 and int(weight.min(initial=0)) > -128


def _is_negative_unit(table: Any) -> bool:
    usable = table is not None and table.dtype == np.int8 and int(table.min()) > -128
    return usable and unit_for(table) is None and unit_for(-table) is not None
