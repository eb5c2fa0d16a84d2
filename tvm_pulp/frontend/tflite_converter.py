"""TVM's TFLite converter with operators of our own: what it lacks, and what TFLite's kernels compute otherwise."""

from __future__ import annotations

from functools import partial
from typing import Any

from tvm.relax.frontend.tflite.tflite_frontend import OperatorConverter

from tvm_pulp.frontend import tflite_products, tflite_resize

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
_OPERATORS = {
    "BATCH_MATMUL": tflite_products.batch_matmul,
    "RESIZE_BILINEAR": tflite_resize.resize_bilinear,
    "TRANSPOSE_CONV": tflite_products.transpose_conv,
}


class TfliteConverter(OperatorConverter):  # type: ignore[misc]
    _SUPPORTED_QUANTIZED_OPS = OperatorConverter._SUPPORTED_QUANTIZED_OPS | _MOVEMENTS | _OPERATORS.keys()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, rule in _OPERATORS.items():
            self.convert_map[name] = partial(rule, self, self.convert_map[name])
