"""Imports quantized ONNX: QuantizeLinear/DequantizeLinear around float operators, and the operator form.

TVM's importer does the float operators; ours are the ones it lacks or writes in a form that hides what they are.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend import onnx_qdq_checks, onnx_qdq_operators, onnx_quantized_operators
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_plain import PlainImporter, operand_list, run_importer
from tvm_pulp.frontend.onnx_standard import source_nodes
from tvm_pulp.frontend.relax_values import constant, dtype_of, shape_of
from tvm_pulp.qnn.tensor_spec import RANGES

_MARKERS = frozenset(
    {
        *("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeLSTM"),
        *onnx_quantized_operators.CONVERTERS,
    }
)
_CONVERTERS = {**onnx_quantized_operators.CONVERTERS, **onnx_qdq_operators.CONVERTERS}


def is_quantized(graph: Graph) -> bool:
    """Tell if a graph is quantized in one of ONNX's own ways."""
    return any(n.op_type in _MARKERS for n in graph.model.graph.node)


def import_qdq(graph: Graph, options: ImportOptions) -> Imported:
    """The graph as Relax: dequantize and quantize around float operators."""
    onnx_qdq_checks.check(graph)
    module = run_importer(QdqImporter, graph, options)
    return Imported(module, tuple(graph.inputs), graph.outputs, "qdq", nodes=source_nodes(graph))


class QdqImporter(PlainImporter):
    """TVM's importer plus the quantized operators."""

    OWN: ClassVar[dict[str, Callable[[Conversion], Any]]] = {**PlainImporter.OWN, **_CONVERTERS}

    def standard(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        """The result of a standard operator."""
        name = {"tvm_custom": {"name": op_name, "num_outputs": 1}}
        convert = self.stock if op_name in onnx_quantized_operators.CONVERTERS else self._convert_operator
        return self.bb.emit(convert(op_name, operand_list(inputs), {**name, **attrs}, opset))

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
