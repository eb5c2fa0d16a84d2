"""Values of a graph of the integer dialect while it is imported: Relax variables or numpy constants."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import refuse_if
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
    """Name -> value, and the emission of operators. Places count the operands of the node being converted."""

    def __init__(self, builder: Any, graph: Graph) -> None:
        self.builder = builder
        self.graph = graph
        self.node = Node("?", "?", (), (), {})
        self._variables: dict[str, Any] = {}
        # Variables and the nodes whose results they are.
        self.named: dict[str, Lineage] = {}

    def define(self, name: str, expression: Any) -> None:
        self._variables[name] = expression

    def is_constant(self, place: int) -> bool:
        return self.node.inputs[place] in self.graph.constants

    def constant(self, place: int, dtype: str | None = "int32") -> np.ndarray:
        """A constant operand as exact integers; `None` picks the narrowest type."""
        return self._integers(self.node.inputs[place], dtype)

    def listed(self, place: int) -> list[int] | None:
        """A constant operand as a list; None where it is left out."""
        return [int(v) for v in self.constant(place, "int64").reshape(-1)] if self.node.has(place) else None

    def _integers(self, name: str, dtype: str | None) -> np.ndarray:
        refuse_if(
            name not in self.graph.constants,
            f"{self.node.label} needs a constant '{name}': only constant parameters can be compiled",
        )
        array = self.graph.constants[name]
        refuse_if(
            not is_integral(array),
            f"constant '{name}' of this integer network holds fractions: quantize the network first",
        )
        refuse_if(
            np.abs(array.astype(np.float64)).max(initial=0) >= 1 << 62,
            f"constant '{name}' holds {np.abs(array).max(initial=0)}, beyond any integer type: export it again",
        )
        exact = np.round(array).astype(np.int64)
        least, most = (int(exact.min()), int(exact.max())) if exact.size else (0, 0)

        def holds(dtype: str) -> bool:
            return RANGES[dtype][0] <= least and most <= RANGES[dtype][1]

        chosen = dtype or next(t for t in (*_WEIGHT_TYPES, "int64") if holds(t))
        refuse_if(not holds(chosen), f"constant '{name}' exceeds {chosen}: values reach {least}..{most}")
        return np.asarray(exact.astype(chosen))

    def expression(self, name: str) -> Any:
        """A value as a Relax expression; constants become integers of the narrowest type."""
        if name in self._variables:
            return self._variables[name]
        return relax.const(self._integers(name, None))

    def operand(self, place: int = 0) -> Any:
        return self.expression(self.node.inputs[place])

    def spec(self, place: int = 0) -> TensorSpec:
        return spec_of(self.operand(place))

    def emit(self, operator: str, arguments: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Bind a dialect operator and define the node's result."""
        expressions = [relax.const(a) if isinstance(a, np.ndarray) else a for a in arguments]
        variable = self.bind(qnn.emit(operator, expressions, attributes))
        check_operands(operator, attributes, [spec_of(e) for e in expressions], spec_of(variable), self.node.label)
        return variable

    def bind(self, expression: Any) -> Any:
        """Bind an expression under the graph's name of the node's result."""
        name = self.node.outputs[0]
        called = variable_name(name)
        variable = self.builder.emit(self.builder.normalize(expression), name_hint=called)
        self.named[str(variable.name)] = Lineage(called, (self.node.name,))
        self.define(name, variable)
        return variable

    def widened(self, expression: Any) -> Any:
        """The same values with 32 bits."""
        if spec_of(expression).dtype == "int32":
            return expression
        rule = qnn.Requant("pulp", 0, 0, *RANGES["int32"], wide=False)
        one, zero = (relax.const(np.full(1, v, np.int32)) for v in (1, 0))
        call = qnn.emit("requantize", [expression, one, zero], {**rule.attributes(), "zero_point": 0, "axis": -1})
        return self.builder.emit(self.builder.normalize(call))
