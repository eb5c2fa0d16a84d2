"""Networks of fully connected layers with a function of single bytes after each: what the scaffold's engine fuses."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tests.frontend.quantized_onnx import Builder


def dense_lookup_network(rows: int, channels: Sequence[int], seed: int = 0) -> tuple[Any, dict[str, np.ndarray]]:
    """Gemm and Tanh in turn, as QDQ ONNX; the model and an input. The first number is that of the input's channels."""
    builder = Builder(np.random.default_rng(seed))
    x = builder.activation((rows, channels[0]), "int8")
    integers = ""
    for before, after in pairwise(channels):
        weights = builder.weight_integers((after, before), 0, per_channel=True)
        weight = builder.node("DequantizeLinear", weights, axis=0)
        y, _ = _quantized(builder, builder.node("Gemm", [x, weight], transB=1))
        x, integers = _quantized(builder, builder.node("Tanh", [y]))
    return builder.typed_model([integers]), builder.feeds


def _quantized(builder: Builder, real: str) -> tuple[str, str]:
    _, scale, zero = builder.fitting(real)
    integers = builder.node("QuantizeLinear", [real, scale, zero])
    return builder.node("DequantizeLinear", [integers, scale, zero]), integers
