"""Rewrites `main` of a module binding by binding.

A pass derives from `Rewriter` and overrides `visit`. It sees each bound value with its operands already rewritten, and
may ask what defined an operand and how often it is used. Bindings nobody needs afterwards are dropped.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import tvm
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.abandoned_builder import closed_on_error
from tvm_pulp.qnn.operator import spec_of


class Rewriter:
    """Base of the canonicalization passes; `run` returns a new module."""

    def run(self, module: Any) -> Any:
        function = module["main"]
        bindings = [b for block in function.body.blocks for b in block.bindings]
        self.builder = relax.BlockBuilder()
        self.lineage = lineage.Tracker(module)
        self._uses = _count_uses(bindings, function.body.body)
        self._values: dict[Any, Any] = {p: p for p in function.params}
        self._definitions: dict[Any, Any] = {}
        self._origin: dict[Any, Any] = {p: p for p in function.params}
        self.start(function)
        with closed_on_error(self.builder), self.builder.function("main", list(function.params)):
            with self.builder.dataflow():
                for binding in bindings:
                    self.lineage.visited = str(binding.var.name)
                    self._binding(binding)
                result = self.builder.emit_output(self._substitute(function.body.body))
            self.builder.emit_func_output(result)
        result = self.builder.get()
        for name, other in module.functions.items():
            if name.name_hint != "main":  # kernels of operators the dialect does not know
                result[name] = other
        return self.lineage.finish(relax.transform.DeadCodeElimination()(result), self._values)

    def start(self, function: Any) -> None:
        """Hook: before the first binding."""

    def visit(self, variable: Any, value: Any) -> Any:
        """New value of a binding; `variable` is the old variable."""
        return value

    def operand(self, variable: Any) -> Any:
        """What an old variable became. A pass that keeps several forms of a value overrides this."""
        return self._values[variable]

    def definition(self, expression: Any) -> Any:
        """The call that defined a rewritten variable, or None."""
        return self._definitions.get(expression)

    def uses(self, expression: Any) -> int:
        """How often the old variable behind a rewritten one is used."""
        origin = self._origin.get(expression)
        return self._uses[origin] if origin is not None else 0

    def emit(self, value: Any, name: str = "") -> Any:
        """Bind a value now; returns its variable."""
        variable = self.builder.emit(self.builder.normalize(value), name_hint=name)
        self._definitions[variable] = value
        self.lineage.bound(variable, name)
        return variable

    def _binding(self, binding: Any) -> None:
        old = binding.var
        value = self.visit(old, self._substitute(binding.value))
        if value is None:
            return
        if isinstance(value, relax.Var | tvm.ir.GenericConst):
            self._values[old] = value
            self._merge_origin(old, value)
            return
        if isinstance(value, relax.Tuple):
            self._values[old] = value
            return
        variable = self.emit(value, old.name)
        self._values[old] = variable
        self._origin[variable] = old

    def _merge_origin(self, old: Any, value: Any) -> None:
        """An old variable became an alias: its uses are uses of the other one."""
        origin = self._origin.get(value)
        if origin is not None and origin is not old:
            self._uses[origin] += self._uses[old] - 1

    def _substitute(self, expression: Any) -> Any:
        if isinstance(expression, relax.Var):
            return self.operand(expression)
        if isinstance(expression, relax.Tuple):
            return relax.Tuple([self._substitute(f) for f in expression.fields])
        if isinstance(expression, relax.TupleGetItem):
            source = self._substitute(expression.tuple_value)
            if isinstance(source, relax.Tuple):
                return source.fields[expression.index]
            return relax.TupleGetItem(source, expression.index)
        if isinstance(expression, relax.Call):
            arguments = [self._substitute(a) for a in expression.args]
            return relax.Call(expression.op, arguments, expression.attrs, expression.ty_args)
        return expression


def _count_uses(bindings: list[Any], result: Any) -> Counter[Any]:
    uses: Counter[Any] = Counter()

    def count(expression: Any) -> None:
        if isinstance(expression, relax.Var):
            uses[expression] += 1
        elif isinstance(expression, relax.Tuple):
            for field in expression.fields:
                count(field)
        elif isinstance(expression, relax.TupleGetItem):
            count(expression.tuple_value)
        elif isinstance(expression, relax.Call):
            for argument in expression.args:
                count(argument)

    for binding in bindings:
        count(binding.value)
    count(result)
    return uses


def is_op(value: Any, name: str) -> bool:
    """Whether a value is a call of the named Relax operator."""
    return isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op) and value.op.name == name


def constant(expression: Any) -> Any:
    """Numpy array of a constant, or None."""
    return expression.value.numpy() if isinstance(expression, tvm.ir.GenericConst) else None


__all__ = ["Rewriter", "constant", "is_op", "qnn", "spec_of"]
