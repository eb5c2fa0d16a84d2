"""Values of a graph of the integer dialect while it is imported: Relax variables or numpy constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.dialect_checks import check_operands
from tvm_pulp.frontend.input_types import is_integral
from tvm_pulp.frontend.onnx_file import Graph, Node
from tvm_pulp.qnn.lineage import Lineage
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.tensor_spec import RANGES, TensorSpec

_WEIGHT_TYPES = ("int8", "uint8", "int16", "int32")


def variable_name(name: str) -> str:
    """Name of a variable of `main`.

    The block builder keeps one name space and drops digits at the end: a variable `main1` would rename the function.
    """
    return f"{name}_value" if name.rstrip("0123456789") == "main" else name


class Values:
    """Name -> value, and the emission of operators."""

    def __init__(self, builder: Any, graph: Graph) -> None:
        self.builder = builder
        self.graph = graph
        self.node: Node | None = None
        self._variables: dict[str, Any] = {}
        # Variables and the nodes whose results they are.
        self.named: dict[str, Lineage] = {}

    def define(self, name: str, expression: Any) -> None:
        self._variables[name] = expression

    def is_constant(self, name: str) -> bool:
        return name in self.graph.constants

    def constant(self, name: str, dtype: str | None = "int32") -> np.ndarray:
        """A constant operand as exact integers; `None` picks the narrowest type."""
        if name not in self.graph.constants:
            node = self.node
            raise UserError(
                f"node '{node.name if node else '?'}' ({node.op_type if node else '?'}) needs a constant '{name}': "
                "only constant parameters can be compiled"
            )
        array = self.graph.constants[name]
        if not is_integral(array):
            raise UserError(f"constant '{name}' of this integer network holds fractions: quantize the network first")
        if array.size and np.abs(array.astype(np.float64)).max() >= 1 << 62:
            raise UserError(f"constant '{name}' holds {np.abs(array).max()}, beyond any integer type: export it again")
        exact = np.round(array).astype(np.int64)
        chosen = dtype or self._narrowest(exact)
        low, high = RANGES[chosen]
        if exact.size and (exact.min() < low or exact.max() > high):
            raise UserError(f"constant '{name}' exceeds {chosen}: values reach {exact.min()}..{exact.max()}")
        return np.asarray(exact.astype(chosen))

    @staticmethod
    def _narrowest(exact: np.ndarray) -> str:
        low, high = (int(exact.min()), int(exact.max())) if exact.size else (0, 0)
        return next(t for t in (*_WEIGHT_TYPES, "int64") if RANGES[t][0] <= low and high <= RANGES[t][1])

    def expression(self, name: str) -> Any:
        """A value as a Relax expression; constants become integers of the narrowest type."""
        if name in self._variables:
            return self._variables[name]
        return relax.const(self.constant(name, None))

    def spec(self, name: str) -> TensorSpec:
        return spec_of(self.expression(name))

    def emit(self, operator: str, arguments: Sequence[Any], attributes: dict[str, Any], name: str) -> Any:
        """Bind a dialect operator and define its output."""
        expressions = [relax.const(a) if isinstance(a, np.ndarray) else a for a in arguments]
        variable = self.bind(qnn.emit(operator, expressions, attributes), name)
        where = f"node '{self.node.name}' ({self.node.op_type})" if self.node else f"value '{name}'"
        check_operands(operator, attributes, [spec_of(e) for e in expressions], spec_of(variable), where)
        return variable

    def bind(self, expression: Any, name: str) -> Any:
        """Bind an expression under the graph's name."""
        called = variable_name(name)
        variable = self.builder.emit(self.builder.normalize(expression), name_hint=called)
        self.named[str(variable.name)] = Lineage(called, (self.node.name if self.node else name,))
        self.define(name, variable)
        return variable

    def cast(self, expression: Any, dtype: str) -> Any:
        """Widen to `dtype`; values are kept."""
        if spec_of(expression).dtype == dtype:
            return expression
        low, high = RANGES[dtype]
        rule = qnn.Requant("pulp", 0, 0, low, high, wide=False)
        if rule.out_dtype != dtype:
            raise UserError(f"node '{self.node.name if self.node else '?'}' needs {dtype} values: not supported")
        one, zero = np.ones(1, np.int32), np.zeros(1, np.int32)
        attributes = {**rule.attributes(), "zero_point": 0, "axis": -1}
        call = qnn.emit("requantize", [expression, relax.const(one), relax.const(zero)], attributes)
        return self.builder.emit(self.builder.normalize(call))
