"""Values of a graph of the integer dialect while it is imported: Relax variables or numpy constants."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_file import Graph, OnnxNode
from tvm_pulp.qnn.lineage import Lineage
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import RANGES, TensorSpec

# Tried in this order: the narrowest first, of inputs unsigned ones when nothing is negative.
_WEIGHT_TYPES = ("int8", "uint8", "int16", "int32", "int64")
INPUT_TYPES = ("uint8", "int8", "uint16", "int16", "int32")
_STATED_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "float32")
Specs = Sequence[TensorSpec]


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
        self.node = OnnxNode("?", "?", (), (), {})
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

        chosen = dtype or next(t for t in _WEIGHT_TYPES if _holds(t, least, most))
        refuse_if(not _holds(chosen, least, most), f"constant '{name}' exceeds {chosen}: values reach {least}..{most}")
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
        call = qnn.emit(operator, arguments, attributes)
        variable = self.bind(call)
        check_operands(operator, attributes, [spec_of(a) for a in call.args], spec_of(variable), self.node.label)
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


def check_operands(operator: str, attributes: dict[str, Any], inputs: Specs, output: TensorSpec, where: str) -> None:
    """Raise where shapes contradict each other; `where` names the node."""
    check_shape(where, output.shape, 4)
    rule = _RULES.get(operator)
    reason = rule(attributes, inputs, output) if rule else None
    if reason is None and Requant.of(attributes).kind != "none":
        reason = _requantization(attributes, inputs, output)
    refuse_if(reason is not None, f"{where}: {reason}: export the model again")


def _bias(attributes: dict[str, Any], inputs: Specs, channels: int) -> str | None:
    wrong = attributes["has_bias"] and inputs[2].elements != channels
    return f"a bias of {inputs[2]} does not fit {channels} channels" if wrong else None


def _dense(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    x, weight = inputs[:2]
    if not x.shape or len(weight.shape) != 2 or x.shape[-1] != weight.shape[1]:
        return f"weights {weight} do not fit {x}"
    return _bias(attributes, inputs, weight.shape[0])


def _matmul(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    a, b = inputs[:2]
    if min(len(a.shape), len(b.shape)) < 2:
        return f"{a} and {b} are not matrices"
    depth = b.shape[-1] if attributes["transpose_b"] else b.shape[-2]
    return f"{a} and {b} cannot be multiplied" if a.shape[-1] != depth else None


def _norm(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    wrong = [i for i in inputs[1:] if not inputs[0].shape or i.elements != inputs[0].shape[-1]]
    return f"weights {wrong[0]} do not fit rows of {inputs[0]}" if wrong else None


def _requantization(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    rank = len(output.shape)
    axis = int(attributes.get("axis", -1))
    if not rank or not -rank <= axis < rank:
        return f"axis {axis} does not exist in {output}"
    wrong = [i for i in inputs[-2:] if i.elements not in (1, output.shape[axis])]
    return f"requantization constants {wrong[0]} do not fit axis {axis} of {output}" if wrong else None


_RULES: dict[str, Callable[[dict[str, Any], Specs, TensorSpec], str | None]] = {
    "conv2d": lambda attributes, inputs, _: _bias(attributes, inputs, inputs[1].shape[0]),
    "dense": _dense,
    "matmul": _matmul,
    "rms_norm": _norm,
    "layer_norm": _norm,
}


def is_integral(array: np.ndarray) -> bool:
    """Tell if every value is an integer, up to the noise of a float file."""
    if np.issubdtype(array.dtype, np.integer):
        return True
    return bool(np.isfinite(array).all() and np.all(np.abs(array - np.round(array)) < 1e-3))


def _holds(dtype: str, least: int, most: int) -> bool:
    return RANGES[dtype][0] <= least and most <= RANGES[dtype][1]


def input_type(name: str, stated: dict[str, str], sample: np.ndarray | None) -> str:
    """Type of a graph input whose file does not state it: the user's, else the narrowest of sample data, else int8."""
    if name in stated:
        known = ", ".join(_STATED_TYPES)
        refuse_if(
            stated[name] not in _STATED_TYPES,
            f"--input-types: '{stated[name]}' for input '{name}' is not one of {known}",
        )
        return stated[name]
    if sample is None or not sample.size:
        return "int8"
    refuse_if(
        not is_integral(sample),
        f"--sample-inputs: input '{name}' of this integer network holds fractions: quantize it or state --input-types",
    )
    low, high = (int(np.round(end)) for end in (sample.min(), sample.max()))
    return next((dtype for dtype in INPUT_TYPES if _holds(dtype, low, high)), "int32")
