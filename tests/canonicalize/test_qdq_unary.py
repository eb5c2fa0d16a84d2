"""Islands of several quantized operands that are one function of a single byte become one table, exactly."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


def _requantized(g: Builder, real: str) -> str:
    """Quantized and dequantized, as quantizers do with every intermediate value."""
    _, scale, zero = g.fitting(real)
    return str(g.node("DequantizeLinear", [g.node("QuantizeLinear", [real, scale, zero]), scale, zero]))


def silu(g: Builder, x: str) -> str:
    return str(g.node("Mul", [x, _requantized(g, g.node("Sigmoid", [x]))]))


def hardswish(g: Builder, x: str) -> str:
    moved = _requantized(g, g.node("Add", [x, g.constant(np.float32(3))]))
    limits = [g.constant(np.float32(v)) for v in (0, 6)]
    return str(g.node("Div", [g.node("Mul", [x, _requantized(g, g.node("Clip", [moved, *limits]))]), limits[1]]))


def mish(g: Builder, x: str) -> str:
    grown = _requantized(g, g.node("Softplus", [x]))
    return str(g.node("Mul", [_requantized(g, g.node("Tanh", [grown])), x]))


def residual(g: Builder, x: str) -> str:
    return str(g.node("Add", [x, _requantized(g, g.node("Tanh", [x]))]))


@pytest.mark.parametrize("function", [silu, hardswish, mish, residual])
@pytest.mark.parametrize("seed", range(3))
def test_functions_of_one_byte_are_one_table(function: Callable[[Builder, str], str], seed: int) -> None:
    """Nothing but a table is left, and it holds what onnxruntime computes for every byte."""
    g = Builder(np.random.default_rng(seed))
    x = g.activation([1, 4, 8, 8])
    model = g.typed_model([g.quantized(function(g, x))])
    module = canonical(model)
    assert operators(module) == {"lookup"}
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    np.testing.assert_array_equal(result, expected)


def test_two_tensors_are_not_one() -> None:
    g = Builder(np.random.default_rng(0))
    x, other = g.activation([1, 4, 8, 8]), g.activation([1, 4, 8, 8])
    model = g.typed_model([g.quantized(g.node("Mul", [x, _requantized(g, g.node("Sigmoid", [other]))]))])
    module = canonical(model)
    assert operators(module) == {"lookup", "qdq_mul"}
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    assert np.abs(result.astype(int) - expected.astype(int)).max() <= 1
