"""Layers that something float follows: their products are integers, and the floats are onnxruntime's."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


def convolution(g: Builder) -> str:
    bias = g.constant(g.rng.normal(size=8).astype(np.float32))
    return str(g.node("Conv", [g.activation([1, 6, 9, 7]), g.weight([8, 6, 3, 3]), bias], pads=[1] * 4))


def line(g: Builder) -> str:
    return str(g.node("Conv", [g.activation([1, 6, 20]), g.weight([8, 6, 3])], dilations=[2]))


def transposed(g: Builder) -> str:
    x, weight = g.activation([1, 6, 5, 4]), g.weight([6, 8, 2, 2], 1)
    return str(g.node("ConvTranspose", [x, weight], strides=[2, 2]))


def dense(g: Builder) -> str:
    weight, bias = g.weight([5, 12]), g.constant(g.rng.normal(size=5).astype(np.float32))
    return str(g.node("Gemm", [g.activation([3, 12]), weight, bias], transB=1))


def products(g: Builder) -> str:
    return str(g.node("MatMul", [g.activation([2, 3, 12]), g.activation([2, 12, 5])]))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "layer", [convolution, line, transposed, dense, products], ids=["conv", "line", "transposed", "dense", "products"]
)
def test_only_the_result_is_float(layer: Callable[[Builder], str]) -> None:
    for seed in range(4):
        g = Builder(np.random.default_rng(seed))
        # No table and no rounding: a function that the dialect does not know.
        model = g.typed_model([g.node("Softplus", [layer(g)])])
        module = canonical(model)
        names = operators(module)
        assert names & {"conv2d", "dense", "matmul"}
        assert not {n for n in names if n.startswith("relax.nn.conv") or n == "relax.matmul"}
        (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
