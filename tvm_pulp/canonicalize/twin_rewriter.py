"""Rewriter for passes that give values of four axes another order of axes.

Keeps, for each old variable, the plain value, its twin in the other order, or both; either is made from the other when
somebody asks for it first.
"""

from typing import Any, ClassVar

from tvm import relax

from tvm_pulp.canonicalize.float_followers import moved_constant
from tvm_pulp.canonicalize.permute import permuted
from tvm_pulp.canonicalize.rewriter import Rewriter


class TwinRewriter(Rewriter):
    # Axes of a plain value in the order of its twin, and the way back.
    there: ClassVar[list[int]]
    back: ClassVar[list[int]]

    def start(self, function: Any) -> None:
        self._twins: dict[Any, Any] = {}  # by old variable

    def operand(self, variable: Any) -> Any:
        if variable not in self._values:
            self._values[variable] = self.emit(permuted(self._twins[variable], self.back), variable.name)
        return self._values[variable]

    def _twin(self, variable: Any) -> Any:
        if variable not in self._twins:
            self._twins[variable] = self.emit(permuted(self.operand(variable), self.there), variable.name)
        return self._twins[variable]

    def _place(self, axis: int) -> int:
        """The place that an axis of a plain value has in a twin."""
        return self.there.index(axis % 4)

    def _define(self, variable: Any, call: Any) -> None:
        twin = self.emit(call, variable.name)
        self._twins[variable] = twin
        self._origin[twin] = variable

    def _define_reduced(self, variable: Any, call: Any, reduced: list[int], keepdims: bool) -> None:
        """A reduction of a twin; without `keepdims` the result has no layout any more."""
        if keepdims:
            self._define(variable, call)
            return
        result = self.emit(call, variable.name)
        # What is left of the twin's order, as positions in what is left of the plain order.
        kept = [a for place, a in enumerate(self.there) if place not in reduced]
        if kept != sorted(kept):
            result = self.emit(permuted(result, [kept.index(a) for a in sorted(kept)]), variable.name)
        self._values[variable] = result
        self._origin[result] = variable

    def _is_only_twin(self, expression: Any) -> bool:
        """Tell if a value has a twin and nobody has asked for its plain form."""
        return isinstance(expression, relax.Var) and expression in self._twins and expression not in self._values

    def _follow_floats(self, variable: Any, call: Any) -> None:
        """A call that works element by element, on twins."""
        arguments = [self._twin(a) if isinstance(a, relax.Var) else moved_constant(a, self.there) for a in call.args]
        self._define(variable, relax.Call(call.op, arguments, call.attrs, call.ty_args))
