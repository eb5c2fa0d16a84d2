"""Float functions between convolutions: channels stay last, and the answer is onnxruntime's."""

from typing import Any

import numpy as np
import pytest

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run
from tvm_pulp.qnn.operator import PREFIX

pytest.importorskip("onnxruntime")


def _sums(g: Builder, channels: int = 6) -> str:
    """Unrounded sums of a convolution."""
    bias = g.constant(g.rng.normal(size=8).astype(np.float32))
    return str(g.node("Conv", [g.activation([1, channels, 5, 7]), g.weight([8, channels, 1, 1]), bias]))


def _count(module: Any, name: str) -> int:
    values = [b.value for block in module["main"].body.blocks for b in block.bindings]
    return sum(getattr(getattr(v, "op", None), "name", "") == name for v in values)


def _check(g: Builder, real: str, transposes: int) -> None:
    scale, zero = g.fitting(real)[1:]
    again = g.node("DequantizeLinear", [g.node("QuantizeLinear", [real, scale, zero]), scale, zero])
    model = g.typed_model([g.quantized(str(g.node("Conv", [again, g.weight([4, 8, 1, 1])])))])
    module = canonical(model)
    # The pictures that come in are turned, and the one that goes out.
    assert _count(module, f"{PREFIX}transpose") == transposes
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    difference = np.abs(result.astype(int) - expected.astype(int))
    assert difference.max() <= 1
    assert (difference == 0).mean() >= 0.99


@pytest.mark.parametrize("function", ["Softsign", "Sigmoid", "Exp"])
def test_functions(function: str) -> None:
    g = Builder(np.random.default_rng(0))
    _check(g, str(g.node(function, [_sums(g)])), 2)


def test_products_with_one_value_per_channel() -> None:
    g = Builder(np.random.default_rng(1))
    gate = g.node("Sin", [g.node("Mul", [g.activation([1, 8, 1, 1]), g.activation([1, 8, 1, 1])])])
    _check(g, str(g.node("Mul", [g.node("Relu", [_sums(g)]), gate])), 2)


def test_constants_of_three_axes() -> None:
    g = Builder(np.random.default_rng(2))
    row = g.constant(g.rng.normal(size=(8, 1, 7)).astype(np.float32))
    _check(g, str(g.node("Tanh", [g.node("Add", [row, _sums(g)])])), 2)


def test_two_layers_of_different_inputs() -> None:
    g = Builder(np.random.default_rng(3))
    _check(g, str(g.node("Mul", [g.node("Sigmoid", [_sums(g)]), _sums(g, 3)])), 3)
