"""Float convolutions as layers, whatever their weights are stored as, and averages; the floats are onnxruntime's."""

from typing import Any

import numpy as np
import pytest

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators
from tvm_pulp.planning.lowering.legalize_float import legalize_float

pytest.importorskip("onnxruntime")


def _picture(g: Builder) -> str:
    """Floats that are a function of no single byte."""
    return str(g.node("Sin", [g.node("Mul", [g.activation([1, 6, 5, 4]), g.activation([1, 6, 5, 4])])]))


def _floats(g: Builder, *shape: int) -> str:
    return g.constant(g.rng.normal(size=shape).astype(np.float32), "w")


def _check(g: Builder, layer: str, operator: str = "float_conv2d") -> None:
    model = g.typed_model([layer])
    module = legalize_float(canonical(model))
    found = operators(module)
    assert operator in found
    assert "relax.call_tir" not in found
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_weights_stored_as_integers() -> None:
    for seed in range(3):
        g = Builder(np.random.default_rng(seed))
        _check(g, str(g.node("Conv", [_picture(g), g.weight([8, 6, 3, 3])], pads=[1] * 4)))


@pytest.mark.parametrize(
    ("kernel", "attributes"),
    [
        ((2, 2), {"strides": [2, 2]}),
        ((3, 3), {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}),
        ((4, 3), {"strides": [2, 1], "pads": [1, 0, 1, 2]}),
        ((3, 2), {"strides": [3, 2], "dilations": [2, 1]}),
        ((3, 3), {"pads": [1] * 4}),
    ],
)
def test_transposed_by_phases(kernel: tuple[int, int], attributes: dict[str, Any]) -> None:
    g = Builder(np.random.default_rng(1))
    operands = [_picture(g), _floats(g, 6, 8, *kernel), _floats(g, 8)]
    _check(g, str(g.node("ConvTranspose", operands, **attributes)))


def test_transposed_with_weights_stored_as_integers() -> None:
    g = Builder(np.random.default_rng(2))
    _check(g, str(g.node("ConvTranspose", [_picture(g), g.weight([6, 8, 2, 2], 1)], strides=[2, 2])))


@pytest.mark.parametrize(
    ("kernel", "attributes"),
    [
        ((3, 3), {"pads": [1] * 4}),
        ((3, 2), {"pads": [1, 0, 1, 1], "strides": [2, 1]}),
        ((2, 2), {"pads": [1, 1, 0, 0]}),
        ((3, 3), {"pads": [1] * 4, "count_include_pad": 1}),
    ],
)
def test_averages_with_padding(kernel: tuple[int, int], attributes: dict[str, Any]) -> None:
    """Padding counts only where the operator says so."""
    g = Builder(np.random.default_rng(3))
    _check(g, str(g.node("AveragePool", [_picture(g)], kernel_shape=list(kernel), **attributes)), "float_pool")
