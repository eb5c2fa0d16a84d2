"""One quantization after a concatenation: every part takes it for itself, as onnxruntime rounds it."""

import numpy as np
import pytest

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


def _float_function(g: Builder) -> str:
    """Of two tensors, so that no table and no rule knows it."""
    return str(g.node("Sin", [g.node("Mul", [g.activation([1, 3, 7]), g.activation([1, 3, 7])])]))


def _check(g: Builder, parts: list[str], *, floats: set[str], relu: bool = False) -> set[str]:
    """Equal to onnxruntime but for ties of sums; `floats`: operators that may stay float."""
    real = str(g.node("Concat", parts, axis=1))
    real = str(g.node("Relu", [real])) if relu else real
    model = g.typed_model([g.quantized(real)])
    module = canonical(model)
    found = operators(module)
    assert {n for n in found if n.startswith("relax.") and n != "relax.reshape"} == floats
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    difference = np.abs(result.astype(int) - expected.astype(int))
    assert difference.max() <= 1
    assert (difference == 0).mean() >= 0.995
    return found


@pytest.mark.parametrize("relu", [False, True])
def test_functions_and_layers(relu: bool) -> None:
    for seed in range(3):
        g = Builder(np.random.default_rng(seed))
        x = g.activation([1, 4, 6, 5])
        silu = g.node("Mul", [x, g.node("Sigmoid", [x])])
        layer = g.node("Conv", [g.activation([1, 6, 6, 5]), g.weight([8, 6, 1, 1])])
        found = _check(g, [silu, layer, g.activation([1, 2, 6, 5])], floats=set(), relu=relu)
        assert {"lookup", "conv2d", "concat"} <= found


def test_constants_are_rounded_here() -> None:
    g = Builder(np.random.default_rng(3))
    token = g.constant(g.rng.normal(size=(1, 3, 7)).astype(np.float32))
    _check(g, [token, g.activation([1, 5, 7])], floats=set())


@pytest.mark.parametrize("relu", [False, True])
def test_floats_are_quantized_on_their_own(relu: bool) -> None:
    g = Builder(np.random.default_rng(4))
    rest = {"relax.dequantize", "relax.multiply", "relax.sin", "relax.quantize"}
    _check(g, [_float_function(g), g.activation([1, 5, 7])], floats=rest, relu=relu)


def test_floats_alone_are_joined_first() -> None:
    g = Builder(np.random.default_rng(5))
    parts = [_float_function(g) for _ in range(2)]
    model = g.typed_model([g.quantized(str(g.node("Concat", parts, axis=1)))])
    assert {"relax.concat", "relax.quantize"} <= operators(canonical(model))
