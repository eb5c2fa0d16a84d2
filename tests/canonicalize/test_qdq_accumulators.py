"""Layers that no quantize follows before a residual sum: integers, and what onnxruntime computes."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


def _conv(g: Builder, x: str, channels: int, outputs: int, kernel: int, **attributes: object) -> str:
    bias = g.constant(g.rng.normal(size=outputs).astype(np.float32))
    pads = [kernel // 2] * 4
    weight = g.weight([outputs, channels, kernel, kernel])
    return str(g.node("Conv", [x, weight, bias], pads=pads, **attributes))


def residual(g: Builder) -> str:
    return str(g.node("Add", [_conv(g, g.activation([1, 6, 9, 7]), 6, 8, 3), g.activation([1, 8, 9, 7])]))


def residual_first(g: Builder) -> str:
    return str(g.node("Add", [g.activation([1, 8, 9, 7]), _conv(g, g.activation([1, 6, 9, 7]), 6, 8, 1)]))


def two_convolutions(g: Builder) -> str:
    left = _conv(g, g.activation([1, 6, 5, 7]), 6, 8, 3)
    return str(g.node("Add", [left, _conv(g, g.activation([1, 4, 10, 14]), 4, 8, 1, strides=[2, 2])]))


def depthwise(g: Builder) -> str:
    x = g.activation([1, 8, 9, 7])
    return str(g.node("Add", [_conv(g, x, 1, 8, 3, group=8), x]))


def without_bias(g: Builder) -> str:
    convolved = g.node("Conv", [g.activation([1, 6, 9, 7]), g.weight([8, 6, 1, 1])])
    return str(g.node("Add", [convolved, g.activation([1, 8, 9, 7])]))


def line(g: Builder) -> str:
    bias = g.constant(g.rng.normal(size=8).astype(np.float32))
    convolved = g.node("Conv", [g.activation([1, 6, 20]), g.weight([8, 6, 3]), bias], pads=[1, 1])
    return str(g.node("Add", [convolved, g.activation([1, 8, 20])]))


def dense(g: Builder) -> str:
    product = g.node("MatMul", [g.activation([1, 5, 12]), g.weight([12, 16], 1)])
    biased = g.node("Add", [product, g.constant(g.rng.normal(size=16).astype(np.float32))])
    return str(g.node("Add", [biased, g.activation([1, 5, 16])]))


@pytest.mark.parametrize(
    "sum_of",
    [residual, residual_first, two_convolutions, depthwise, without_bias, line, dense],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("activation", ["none", "relu"])
def test_sums_of_unrounded_layers_are_integers(sum_of: Callable[[Builder], str], activation: str) -> None:
    """Within one step of onnxruntime, and equal in at least 99.5 % of all values over several networks."""
    equal = total = 0
    for seed in range(6):
        g = Builder(np.random.default_rng(seed))
        real = sum_of(g)
        real = str(g.node("Relu", [real])) if activation == "relu" else real
        model = g.typed_model([g.quantized(real)])
        module = canonical(model)
        assert "add_accumulators" in operators(module)
        assert not operators(module) & {"relax.add", "relax.nn.conv2d", "relax.quantize", "relax.dequantize"}
        (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
        difference = np.abs(result.astype(int) - expected.astype(int))
        assert difference.max() <= 1
        equal, total = equal + int((difference == 0).sum()), total + difference.size
    assert equal >= 0.995 * total
