"""Rewrites `main` of a module binding by binding.

A pass derives from `Rewriter` and overrides `visit`. It sees each bound value with its operands already rewritten, and
may ask what defined an operand and how often it is used. A value that lacks what the pass requires stays as it was.
Bindings nobody needs afterwards are dropped.
"""

from collections import Counter, defaultdict
from contextlib import suppress
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import Mismatch, first_of, needed, or_none, require
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.abandoned_builder import closed_on_error
from tvm_pulp.qnn.lineage import variables_of
from tvm_pulp.qnn.operator import relax_name, spec_of


class Rewriter:
    """Base of the canonicalization passes; `run` returns a new module."""

    def run(self, module: Any) -> Any:
        function = module["main"]
        bindings = lineage.bindings_of(function)
        self.builder = relax.BlockBuilder()
        self.lineage = lineage.Tracker(module)
        read = [*(b.value for b in bindings), function.body.body]
        self._uses = Counter(variable for expression in read for variable in variables_of(expression))
        self._values: dict[Any, Any] = {p: self.parameter(p) for p in function.params}
        self._definitions: dict[Any, Any] = {}
        self._origin: dict[Any, Any] = {new: old for old, new in self._values.items()}
        self.start(function)
        with closed_on_error(self.builder), self.builder.function("main", list(self._values.values())):
            with self.builder.dataflow():
                for binding in bindings:
                    self.lineage.visited = str(binding.var.name)
                    self._binding(binding)
                result = self.builder.emit_output(self.result(self._substitute(function.body.body)))
            self.builder.emit_func_output(result)
        made = self.builder.get()
        for name, other in module.functions.items():
            if name.name_hint != "main":  # kernels of operators the dialect does not know
                made[name] = other
        return self.lineage.finish(relax.transform.DeadCodeElimination()(made), self._values)

    def parameter(self, old: Any) -> Any:
        """Hook: the parameter that takes the place of an old one."""
        return old

    def start(self, function: Any) -> None:
        """Hook: before the first binding."""

    def result(self, value: Any) -> Any:
        """Hook: what is returned in the place of a rewritten value, which may be a tuple."""
        return value

    def visit(self, variable: Any, value: Any) -> Any:
        """New value of a binding, which stays as it was at a `Mismatch`; `variable` is the old variable."""
        return value

    def operand(self, variable: Any) -> Any:
        """The value that an old variable became. A pass that keeps several forms of a value overrides this."""
        return self._values[variable]

    def definition(self, expression: Any) -> Any:
        """The call that defined a rewritten variable, or None."""
        return self._definitions.get(expression)

    def uses(self, expression: Any) -> int:
        """Number of uses of the old variable behind a rewritten one."""
        origin = self._origin.get(expression)
        return self._uses[origin] if origin is not None else 0

    def single(self, expression: Any, *names: str) -> Any:
        """The dialect call that defined an operand which nobody else reads, if it is one of `names`; else None."""
        call = self.definition(expression)
        return call if qnn.is_qnn(call, *names) and self.uses(expression) == 1 else None

    def emit(self, value: Any, name: str = "") -> Any:
        """Bind a value now; returns its variable."""
        variable = self.builder.emit(self.builder.normalize(value), name_hint=name)
        self._definitions[variable] = value
        self.lineage.bound(variable, name)
        return variable

    def _binding(self, binding: Any) -> None:
        old, value = binding.var, self._substitute(binding.value)
        with suppress(Mismatch):
            value = self.visit(old, value)
        if isinstance(value, relax.Var | tvm.ir.GenericConst):
            self._merge_origin(old, value)
        elif not isinstance(value, relax.Tuple):
            value = self.emit(value, old.name)
            self._origin[value] = old
        self._values[old] = value

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
            before = list(expression.args)
            arguments = [self._substitute(a) for a in before]
            call = relax.Call(expression.op, arguments, expression.attrs, expression.ty_args)
            if all(_same_type(*pair) for pair in zip(before, arguments, strict=True)):
                relax.expr._update_type(call, expression.ty)  # else it would be found out again
            return call
        return expression


def _same_type(old: Any, new: Any) -> bool:
    return new is old or bool(tvm_ffi.structural_equal(old.ty, new.ty))


def readers_of(function: Any) -> dict[Any, list[tuple[Any, Any, int]]]:
    """By variable, what reads it: variable and value of a binding and the operand's position; None for the result."""
    readers: dict[Any, list[tuple[Any, Any, int]]] = defaultdict(list)
    for binding in lineage.bindings_of(function):
        value = binding.value
        for position, argument in enumerate(value.args if isinstance(value, relax.Call) else [value]):
            for read in variables_of(argument):
                readers[read].append((binding.var, value, position))
    for read in variables_of(function.body.body):
        readers[read].append((None, None, 0))
    return readers


def is_op(value: Any, *names: str) -> bool:
    """Tell if a value is a call of one of the named Relax operators."""
    return relax_name(value) in names


def constant(expression: Any) -> Any:
    """Numpy array of a constant, or None."""
    return expression.value.numpy() if isinstance(expression, tvm.ir.GenericConst) else None


def single_value(array: Any) -> Any:
    """The one number of an array of one element, or None."""
    return array.reshape(-1)[0] if array is not None and array.size == 1 else None


def integers(values: Any) -> list[int]:
    """Entries of an attribute as Python integers."""
    return [int(v) for v in values]


# Of other files: passes take these from here, too.
__all__ = ["Mismatch", "first_of", "needed", "or_none", "relax_name", "require", "spec_of"]
