"""Checks of a quantized ONNX graph before it is imported: one clear sentence instead of a wrong network."""

from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_protos import label, operand

# Where scales and zero points stand among the operands.
_BINARY, _UNARY = [(1, 2), (4, 5), (6, 7)], [(1, 2), (3, 4)]
_PARAMETERS = {
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _BINARY[:1]),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul"), _BINARY),
    **dict.fromkeys(("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"), _UNARY),
    **dict.fromkeys(("QLinearGlobalAveragePool", "QLinearAveragePool", "QLinearReduceMean"), _UNARY),
    "QGemm": [(1, 2), (4, 5), (7, 8)],
}
_ZERO_POINT_TYPES = ("int8", "uint8", "int16", "uint16", "int32")


def check(graph: Graph) -> None:
    """Raise for scales that are zero, negative or not finite, and for zero points of a type nobody quantizes to."""
    constants = graph.constants
    for proto in graph.model.graph.node:
        places = list(_PARAMETERS.get(proto.op_type, []))
        if proto.op_type == "QLinearConcat":
            places = [(0, 1), *((i, i + 1) for i in range(3, len(proto.input), 3))]
        for scale_place, zero_place in places:
            _check_scale(proto, operand(proto, scale_place), constants)
            _check_zero_point(proto, operand(proto, zero_place), constants)


def _check_scale(proto: Any, name: str, constants: dict[str, np.ndarray]) -> None:
    scale = constants.get(name)
    if scale is None:
        return
    if not np.issubdtype(scale.dtype, np.floating):
        raise UserError(f"{label(proto)}: scale '{name}' is {scale.dtype}, not a float: re-export the model")
    if scale.size == 0 or not np.isfinite(scale).all() or (scale <= 0).any():
        raise UserError(f"{label(proto)}: scale '{name}' must be positive and finite: quantize the model again")


def _check_zero_point(proto: Any, name: str, constants: dict[str, np.ndarray]) -> None:
    zero_point = constants.get(name)
    if zero_point is not None and str(zero_point.dtype) not in _ZERO_POINT_TYPES:
        known = ", ".join(_ZERO_POINT_TYPES)
        raise UserError(f"{label(proto)}: quantization to {zero_point.dtype} is not supported; use one of {known}")
