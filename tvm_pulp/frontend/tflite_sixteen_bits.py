"""TFLite's LOGISTIC, TANH and SOFTMAX of 16-bit integers, which have kernels of their own."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.frontend.tflite_options import options_of
from tvm_pulp.qnn import curve, softmax_tflite16


def _is_sixteen_bits(converter: Any, op: Any) -> bool:
    tensors = [*converter.get_input_tensors(op), *converter.get_output_tensors(op)]
    return all(t.qnn_params and converter.get_tensor_type_str(t.tensor.Type()) == "int16" for t in tensors)


def _scale(tensor: Any) -> float:
    return float(np.float32(tensor.qnn_params["scale"].value.numpy()))


def _curve(function: str, converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    if not _is_sixteen_bits(converter, op):
        return upstream(op)
    (x,) = converter.get_input_tensors(op)
    operands = [converter.get_tensor_expr(x), relax.const(curve.sigmoid_points())]
    return qnn.emit("curve", operands, {"function": function, **curve.parameters(_scale(x))})


logistic = partial(_curve, "sigmoid")
tanh = partial(_curve, "tanh")


def softmax(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    (x,), (y,) = converter.get_input_tensors(op), converter.get_output_tensors(op)
    beta = float(options_of(op, "SoftmaxOptions").Beta())
    if _is_sixteen_bits(converter, op):
        operands = [converter.get_tensor_expr(x), *(relax.const(t) for t in softmax_tflite16.tables())]
        attributes = {"form": "tflite16", "dtype": "int16", **softmax_tflite16.parameters(_scale(x), beta)}
        return qnn.emit("softmax", operands, attributes)
    if beta == 1.0:
        return upstream(op)
    real = converter.get_tensor_expr(x)
    real = converter.dequantize(real, x) if x.qnn_params else real
    result = relax.op.nn.softmax(converter.bb.normalize(relax.op.multiply(real, relax.const(np.float32(beta)))), -1)
    return converter.quantize(result, y) if y.qnn_params else result
