"""Float weights beside quantized inputs: two layers of 8-bit weights, and what onnxruntime computes."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators
from tvm_pulp.canonicalize.near_weights import halves, near

pytest.importorskip("onnxruntime")


def _floats(g: Builder, *shape: int) -> str:
    return g.constant(g.rng.normal(size=shape).astype(np.float32), "w")


def convolution(g: Builder) -> str:
    return str(g.node("Conv", [g.activation([1, 6, 9, 7]), _floats(g, 8, 6, 3, 3), _floats(g, 8)], pads=[1] * 4))


def depthwise(g: Builder) -> str:
    return str(g.node("Conv", [g.activation([1, 6, 9, 7]), _floats(g, 6, 1, 3, 3)], group=6))


def line(g: Builder) -> str:
    return str(g.node("Conv", [g.activation([1, 6, 20]), _floats(g, 8, 6, 3), _floats(g, 8)], dilations=[2]))


def transposed(g: Builder) -> str:
    operands = [g.activation([1, 6, 5, 4]), _floats(g, 6, 8, 2, 2), _floats(g, 8)]
    return str(g.node("ConvTranspose", operands, strides=[2, 2]))


def overlapping(g: Builder) -> str:
    operands = [g.activation([1, 6, 5, 4]), _floats(g, 6, 8, 3, 3)]
    return str(g.node("ConvTranspose", operands, strides=[2, 2], pads=[1] * 4, output_padding=[1, 1]))


def transposed_line(g: Builder) -> str:
    return str(g.node("ConvTranspose", [g.activation([1, 6, 9]), _floats(g, 6, 8, 4)], strides=[2], pads=[1, 1]))


def scaled_by_inputs(g: Builder) -> str:
    weight = g.node("DequantizeLinear", g.weight_integers([6, 8, 2, 2], 0, True), axis=0)
    return str(g.node("ConvTranspose", [g.activation([1, 6, 5, 4]), weight, _floats(g, 8)], strides=[2, 2]))


LAYERS = [scaled_by_inputs, convolution, depthwise, line, transposed, overlapping, transposed_line]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("activation", ["none", "relu"])
def test_quantized_results(layer: Callable[[Builder], str], activation: str) -> None:
    """Within one step of onnxruntime, and equal in at least 99.5 % of all values over several networks."""
    equal = total = 0
    for seed in range(3):
        g = Builder(np.random.default_rng(seed))
        real = layer(g)
        real = str(g.node("Relu", [real])) if activation == "relu" else real
        model = g.typed_model([g.quantized(real)])
        module = canonical(model)
        assert "add_accumulators" in operators(module)
        assert not {n for n in operators(module) if n.startswith("relax.") and n != "relax.reshape"}
        (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
        difference = np.abs(result.astype(int) - expected.astype(int))
        assert difference.max() <= 1
        equal, total = equal + int((difference == 0).sum()), total + difference.size
    assert equal >= 0.995 * total


@pytest.mark.parametrize("layer", LAYERS, ids=lambda f: f.__name__)
def test_float_results(layer: Callable[[Builder], str]) -> None:
    g = Builder(np.random.default_rng(7))
    # A function that the dialect does not know.
    model = g.typed_model([g.node("Softplus", [layer(g)])])
    module = canonical(model)
    assert not {n for n in operators(module) if n.startswith("relax.nn.conv")}
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    assert np.abs(result - expected).max() <= 1e-4 * np.abs(expected).max()


def test_halves_are_the_whole() -> None:
    real = np.random.default_rng(0).normal(size=(5, 4, 3, 3)).astype(np.float32)
    held = near(real, 0)
    assert held is not None
    upper, lower = halves(held)
    assert (upper.values.dtype, lower.values.dtype) == (np.int8, np.int8)
    together = upper.values.astype(int) * 256 + lower.values
    assert (together == held.values).all()
    assert np.abs(held.real - real).max() <= 0.51 * held.scale.max()


@pytest.mark.parametrize("outlier", [np.float32(1000), np.float32(np.inf), np.float32(1e-30)])
def test_weights_that_16_bits_do_not_hold_stay_float(outlier: np.float32) -> None:
    """One weight that dwarfs the others; none that is a number; scales no product can take."""
    real = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
    if outlier < 1:
        real *= outlier
    else:
        real[1, 5] = outlier
    assert near(real, 0) is None


def test_inputs_of_16_bits_keep_their_float_weights() -> None:
    g = Builder(np.random.default_rng(1))
    x = g.constant(g.rng.integers(-999, 999, (1, 6, 5, 4)).astype(np.int32))
    scaled = g.node("DequantizeLinear", [x, g.constant(np.float32(0.01))])
    moved = g.node("Mul", [scaled, g.activation([1, 6, 5, 4])])
    module = canonical(g.typed_model([g.node("Conv", [moved, _floats(g, 8, 6, 1, 1)])]))
    assert "relax.nn.conv2d" in operators(module)
