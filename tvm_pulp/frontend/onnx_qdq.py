"""Imports quantized ONNX: QuantizeLinear/DequantizeLinear around float operators, and the operator form.

TVM's importer does the float operators; ours are the ones it lacks or writes in a form that hides what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from tvm import relax
from tvm.relax.frontend.onnx import onnx_frontend

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_qdq_checks, onnx_qdq_operators, onnx_quantized_operators
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_plain import PlainImporter, run_importer
from tvm_pulp.frontend.onnx_standard import source_nodes
from tvm_pulp.frontend.relax_constant import constant
from tvm_pulp.qnn.tensor_spec import RANGES

_MARKERS = frozenset(
    {
        *("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeLSTM"),
        *onnx_quantized_operators.CONVERTERS,
    }
)
_CONVERTERS = {**onnx_quantized_operators.CONVERTERS, **onnx_qdq_operators.CONVERTERS}


def is_quantized(graph: Graph) -> bool:
    """Whether a graph is quantized in one of ONNX's own ways."""
    return any(n.op_type in _MARKERS for n in graph.model.graph.node)


def import_qdq(graph: Graph, options: ImportOptions) -> Imported:
    """The graph as Relax: dequantize and quantize around float operators."""
    onnx_qdq_checks.check(graph)
    module = run_importer(QdqImporter, graph, options)
    return Imported(module, tuple(graph.inputs), graph.outputs, "qdq", nodes=source_nodes(graph))


class QdqImporter(PlainImporter):
    """TVM's importer plus the quantized operators."""

    OWN: ClassVar[dict[str, Callable[..., Any]]] = {**PlainImporter.OWN, **_CONVERTERS}

    def standard(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        """The result of a standard operator."""
        name = {"tvm_custom": {"name": op_name, "num_outputs": 1}}
        convert = self.stock if op_name in _CONVERTERS and op_name not in onnx_qdq_operators.CONVERTERS else self._made
        return self.bb.emit(convert(op_name, inputs, {**name, **attrs}, opset))

    def _made(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        given = onnx_frontend.onnx_input()
        given.extend(inputs)
        return self._convert_operator(op_name, given, attrs, opset)

    def dequantize(self, x: Any, scale: Any, zero_point: Any, axis: int = 0) -> Any:
        _check_parameters(x, scale, zero_point, axis)
        if str(x.ty.dtype.dtype) not in RANGES:
            raise UserError(f"DequantizeLinear of {x.ty.dtype.dtype} values: its operand must be integers")
        zero = self._scalar_or_vector(zero_point, str(x.ty.dtype.dtype), scale)
        call = relax.op.dequantize(x, _plain(scale), zero, axis=axis, out_dtype="float32")
        return self.bind(call)

    def quantize(self, x: Any, scale: Any, zero_point: Any, like: Any = None, axis: int = 0) -> Any:
        """Quantize; without a zero point the type is that of `like`, else uint8."""
        dtype = "uint8" if like is None else str(like.ty.dtype.dtype)
        dtype = dtype if zero_point is None else str(zero_point.ty.dtype.dtype)
        _check_parameters(x, scale, zero_point, axis)
        zero = self._scalar_or_vector(zero_point, dtype, scale)
        call = relax.op.quantize(x, _plain(scale), zero, axis=axis, out_dtype=dtype)
        return self.bind(call)

    @staticmethod
    def _scalar_or_vector(zero_point: Any, dtype: str, scale: Any) -> Any:
        if zero_point is None:
            return relax.const(np.zeros((), dtype))
        held, factors = constant(zero_point), constant(scale)
        if held is not None and factors is not None and held.size == 1 and factors.size > 1:
            return relax.const(np.full(factors.size, held.reshape(-1)[0], held.dtype))
        return _plain(zero_point)


def _check_parameters(x: Any, scale: Any, zero_point: Any, axis: int) -> None:
    """Scale and zero point hold one value, or one per entry of the axis."""
    shape = [int(d) for d in x.ty.shape.values]
    sizes = [math.prod(int(d) for d in p.ty.shape.values) for p in (scale, zero_point) if p is not None]
    along = shape[axis] if -len(shape) <= axis < len(shape) else 1
    ranks = [len(p.ty.shape.values) for p in (scale, zero_point) if p is not None]
    if any(s not in (1, along) for s in sizes) or max(ranks) > 1:
        raise UserError(f"{sizes} scales and zero points do not fit axis {axis} of shape {shape}: quantize it again")


def _plain(value: Any) -> Any:
    """A constant of one element without axes: Relax takes a vector for one value per channel."""
    array = constant(value)
    return relax.const(array.reshape(())) if array is not None and array.size == 1 else value
