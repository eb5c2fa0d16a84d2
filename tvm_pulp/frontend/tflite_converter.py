"""TVM's TFLite converter with operators of our own: what it lacks, and what TFLite's kernels compute otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tvm import relax
from tvm.relax.frontend.tflite.tflite_frontend import OperatorConverter

from tvm_pulp.frontend import tflite_products, tflite_resize, tflite_sixteen_bits
from tvm_pulp.frontend.relax_constant import constant

# Operators whose result has the scale and zero point of their operand, so that integers may be moved as they are.
_MOVEMENTS = frozenset(
    {
        "DEPTH_TO_SPACE",
        "EXPAND_DIMS",
        "GATHER",
        "PAD",
        "PADV2",
        "RESIZE_NEAREST_NEIGHBOR",
        "SLICE",
        "SPACE_TO_DEPTH",
        "SPLIT",
        "SPLIT_V",
        "SQUEEZE",
        "STRIDED_SLICE",
        "TILE",
        "TRANSPOSE",
        "UNPACK",
    }
)
# Functions of the converter and an operator that give the result.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "BATCH_MATMUL": tflite_products.batch_matmul,
    "LOGISTIC": tflite_sixteen_bits.logistic,
    "RESIZE_BILINEAR": tflite_resize.resize_bilinear,
    "SOFTMAX": tflite_sixteen_bits.softmax,
    "TANH": tflite_sixteen_bits.tanh,
    "TRANSPOSE_CONV": tflite_products.transpose_conv,
}


class TfliteConverter(OperatorConverter):
    _SUPPORTED_QUANTIZED_OPS = OperatorConverter._SUPPORTED_QUANTIZED_OPS | _MOVEMENTS | _OPERATORS.keys()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, rule in _OPERATORS.items():
            self.convert_map[name] = partial(rule, self, self.convert_map[name])

    def dequantize(self, expr: Any, tensor: Any) -> Any:
        """Biases of 64 bits as 32 bits, which hold all that occur."""
        values = constant(expr)
        if values is not None and values.dtype == np.int64 and np.abs(values).max(initial=0) < 1 << 31:
            expr = relax.const(values.astype(np.int32))
        return super().dequantize(expr, tensor)
