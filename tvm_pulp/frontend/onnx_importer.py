"""Imports standard ONNX with TVM's importer, extended by what it lacks or writes in a form that hides what it is.

Float models stay float. Quantized ones become QuantizeLinear and DequantizeLinear around float operators, whichever way
they are written.
"""

import contextlib
import io
import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import onnx_frontend

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend import onnx_quantized_operators, onnx_standard_operators
from tvm_pulp.frontend.imported import Imported, ImportOptions, identifier, output_names
from tvm_pulp.frontend.library_errors import last_words, refuse_library_errors
from tvm_pulp.frontend.onnx_constant_operands import not_constant
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_fake_quantize import with_quantize_pairs
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_node_checks import check_node, check_quantization
from tvm_pulp.frontend.onnx_standard import source_nodes, standard_graph
from tvm_pulp.frontend.relax_checks import check_module
from tvm_pulp.frontend.relax_values import constant, dtype_of, framework_reason, shape_of
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.abandoned_builder import closed_on_error
from tvm_pulp.qnn.tensor_spec import RANGES

_CONVERTERS = {**onnx_standard_operators.CONVERTERS, **onnx_quantized_operators.CONVERTERS}
_MARKERS = frozenset(
    {
        *("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeLSTM"),
        *onnx_quantized_operators.CONVERTERS,
    }
)


def known_operators() -> set[str]:
    """Operators that are converted."""
    return {*onnx_frontend._get_convert_map(), *_CONVERTERS}


def is_quantized(graph: Graph) -> bool:
    """Tell if a graph is quantized in one of ONNX's own ways."""
    return any(n.op_type in _MARKERS for n in graph.model.graph.node)


def import_standard(graph: Graph, options: ImportOptions) -> Imported:
    """The graph as a checked Relax module: float, or dequantize and quantize around float operators."""
    graph = with_quantize_pairs(graph)
    quantized = is_quantized(graph)
    if quantized:
        check_quantization(graph)
    # Integers come in with the products of recurrent layers.
    quantized = quantized or options.recurrent is not None
    standard, shapes = standard_graph(graph, options, known_operators())
    refused = "TVM's ONNX importer cannot read this model", ": simplify or re-export it"
    # The importer prints and warns; what matters is in the exception.
    with (
        refuse_library_errors(*refused, partial(last_words, longest=200)),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(action="ignore"),
    ):
        importer = Importer(shapes, "float32")
        with closed_on_error(importer.bb):
            module = importer.from_onnx(standard, graph.opset)
        module = relax.transform.DecomposeOpsForInference()(module)
    check_module(module)
    module["main"] = module["main"].without_attr("params")
    module = lineage.of_imported(module, importer.named)
    dialect = "qdq" if quantized else "float"
    return Imported(module, tuple(graph.inputs), output_names(graph.outputs), dialect, nodes=source_nodes(graph))


class Importer(onnx_frontend.ONNXGraphImporter):
    """TVM's importer plus our converters."""

    # The node being converted: its name as an identifier, and as the file has it.
    _current = ""
    _node = ""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # Variables and the nodes whose results they are.
        self.named: dict[str, lineage.Lineage] = {}

    def _check_for_unsupported_ops(self, graph: Any) -> None:
        """Done before: `standard_graph` names all unknown operators at once."""

    def _convert_operator(self, op_name: str, inputs: Any, attrs: Any, opset: int) -> Any:
        """A node's result, bound under the node's name; what it is made of carries the same name."""
        outer = self._current
        self._node = self._node if outer else str(attrs["tvm_custom"]["name"])
        self._current = outer or identifier(self._node)
        c = Conversion(self, op_name, list(inputs), dict(attrs), opset)
        try:
            if not outer:
                check_node(c)
            made = self._bound(self._converted(c, inputs))
            _check_results(c, made)
            return made
        except Exception as error:  # TVM raises many classes for what it does not know
            if outer:
                raise
            raise _refusal(c, f"node '{attrs['tvm_custom']['name']}' ({op_name})", inputs, error) from None
        finally:
            self._current = outer

    def _sanitize_name(self, name: str) -> str:
        """Names of graph inputs, as TVM's printer and its temporaries may use them."""
        return str(self._name_supply.fresh_name(identifier(name)))

    def _bound(self, converted: Any) -> Any:
        if isinstance(converted, relax.Tuple):
            return relax.Tuple([self._bound(field) for field in converted.fields])
        if isinstance(converted, relax.Call) and isinstance(converted.ty, relax.TensorType):
            return self.bind(converted)
        if isinstance(converted, relax.Var):
            self.named.setdefault(str(converted.name), lineage.Lineage(self._current, (self._node,)))
        return converted

    def bind(self, call: Any) -> Any:
        """A variable called after the node."""
        variable = self.bb.emit(call, name_hint=self._current)
        self.named[str(variable.name)] = lineage.Lineage(self._current, (self._node,))
        return variable

    def _converted(self, c: Conversion, inputs: Any) -> Any:
        if c.op_type in _CONVERTERS:
            converted = _CONVERTERS[c.op_type](c)
            return converted if isinstance(converted, relax.Tuple) else self.bb.normalize(converted)
        if c.op_type != "LayerNormalization":
            return super()._convert_operator(c.op_type, inputs, c.attributes, c.opset)
        # TVM's conversion, not yet normalized: its call would lose the node's name.
        convert = onnx_frontend.LayerNormalization.get_converter(c.opset)
        made = convert(self.bb, inputs, c.attributes, [self._nodes, self._params])
        first, *rest = (self.bb.normalize(f) for f in made.fields)
        return relax.Tuple([first, *(onnx_standard_operators.norm_statistics(c) if c.results > 1 else rest)])

    def stock(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        """TVM's own conversion of an operator."""
        return super()._convert_operator(op_name, _operand_list(inputs), attrs, opset)

    def standard(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        """The result of a standard operator."""
        name = {"tvm_custom": {"name": op_name, "num_outputs": 1}}
        convert = self.stock if op_name in onnx_quantized_operators.CONVERTERS else self._convert_operator
        return self.bb.emit(convert(op_name, _operand_list(inputs), {**name, **attrs}, opset))

    def dequantize(self, x: Any, scale: Any, zero_point: Any, axis: int = 0) -> Any:
        _check_parameters(x, scale, zero_point, axis)
        dtype = dtype_of(x)
        refuse_if(dtype not in RANGES, f"DequantizeLinear of {dtype} values: its operand must be integers")
        zero = _scalar_or_vector(zero_point, dtype, scale)
        return self.bind(relax.op.dequantize(x, _plain(scale), zero, axis=axis, out_dtype="float32"))

    def quantize(self, x: Any, scale: Any, zero_point: Any, like: Any = None, axis: int = 0) -> Any:
        """Quantize; without a zero point the type is that of `like`, else uint8."""
        source = like if zero_point is None else zero_point
        dtype = "uint8" if source is None else dtype_of(source)
        _check_parameters(x, scale, zero_point, axis)
        zero = _scalar_or_vector(zero_point, dtype, scale)
        return self.bind(relax.op.quantize(x, _plain(scale), zero, axis=axis, out_dtype=dtype))


def _check_results(c: Conversion, made: Any) -> None:
    """As many results as the node names, of sizes that are known; operands that prevent the latter are named."""
    kind = getattr(made, "ty", None)
    fields = [f.ty for f in made.fields] if isinstance(made, relax.Tuple) else getattr(kind, "fields", [kind])
    refuse_if(
        len(fields) < c.results,
        f"it has {c.results} results, and there is a conversion of the first {len(fields)}: export the model without "
        "the others",
    )
    unknown = any(isinstance(f, relax.TensorType) and not _is_static(f) for f in fields)
    names = not_constant(c) if unknown else ""
    refuse_if(names, f"{names} must be constant: make it an initializer")


def _is_static(kind: Any) -> bool:
    sizes = getattr(kind.shape, "values", None)
    return sizes is not None and all(isinstance(d, tvm.tirx.IntImm) for d in sizes)


def _operand_list(operands: Sequence[Any]) -> Any:
    """Operands as TVM's converters take them."""
    given = onnx_frontend.onnx_input()
    given.extend(operands)
    return given


def _refusal(c: Conversion, node: str, inputs: Sequence[Any], error: Exception) -> UserError:
    """One sentence that begins with the node."""
    if isinstance(error, UserError):
        return error if str(error).startswith("node '") else UserError(f"{node}: {error}")
    names = not_constant(c)
    if names:
        return UserError(f"{node}: {names} must be constant: make it an initializer")
    kinds: list[Any] = [getattr(getattr(x, "ty", None), "shape", None) for x in inputs]
    shapes = [[getattr(d, "value", d) for d in k.values] for k in kinds if hasattr(k, "values")]
    return UserError(f"{node}: it {framework_reason(error, shapes)}: re-export the model")


def _scalar_or_vector(zero_point: Any, dtype: str, scale: Any) -> Any:
    """A zero point as its scale is: one value, or one per channel."""
    if zero_point is None:
        return relax.const(np.zeros((), dtype))
    held, factors = constant(zero_point), constant(scale)
    if held is not None and factors is not None and held.size == 1 and factors.size > 1:
        return relax.const(np.full(factors.size, held.reshape(-1)[0], held.dtype))
    return _plain(zero_point)


def _check_parameters(x: Any, scale: Any, zero_point: Any, axis: int) -> None:
    """Scale and zero point hold one value, or one per entry of the axis."""
    shape, parameters = shape_of(x), [shape_of(p) for p in (scale, zero_point) if p is not None]
    sizes = [math.prod(p) for p in parameters]
    along = shape[axis] if -len(shape) <= axis < len(shape) else 1
    if any(s not in (1, along) for s in sizes) or max(map(len, parameters)) > 1:
        raise UserError(f"{sizes} scales and zero points do not fit axis {axis} of shape {shape}: quantize it again")


def _plain(value: Any) -> Any:
    """A constant of one element without axes: Relax takes a vector for one value per channel."""
    array = constant(value)
    return relax.const(array.reshape(())) if array is not None and array.size == 1 else value
