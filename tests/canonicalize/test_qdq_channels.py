"""Islands that are a line of every channel's bytes become a requantization by channels, exactly."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


def _vector(g: Builder, low: float, high: float, *shape: int) -> str:
    return str(g.constant(g.rng.uniform(low, high, shape).astype(np.float32)))


def batch_norm(g: Builder, x: str) -> str:
    constants = [_vector(g, *ends, 6) for ends in ((-1.5, 1.5), (-0.5, 0.5), (-0.3, 0.3), (0.5, 2))]
    return str(g.node("BatchNormalization", [x, *constants]))


def norm_and_relu(g: Builder, x: str) -> str:
    return str(g.node("Relu", [batch_norm(g, x)]))


def product(g: Builder, x: str) -> str:
    return str(g.node("Mul", [_vector(g, -2, 2, 6, 1, 1), x]))


def row(g: Builder, x: str) -> str:
    """Along the last axis."""
    return str(g.node("Sub", [g.node("Mul", [x, _vector(g, -2, 2, 7)]), _vector(g, -2, 2, 7)]))


@pytest.mark.parametrize("function", [batch_norm, norm_and_relu, product, row])
@pytest.mark.parametrize("seed", range(3))
def test_lines_of_channels(function: Callable[[Builder, str], str], seed: int) -> None:
    """Nothing but a requantization is left; at most float32's last bit of a norm differs."""
    g = Builder(np.random.default_rng(seed))
    model = g.typed_model([g.quantized(function(g, g.activation([1, 6, 5, 7])))])
    module = canonical(model)
    assert operators(module) <= {"requantize", "transpose"}
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    difference = np.abs(result.astype(int) - expected.astype(int))
    assert difference.max() <= (1 if "norm" in function.__name__ else 0)
    assert (difference == 0).mean() >= 0.99


@pytest.mark.parametrize("slopes", [(0.25, 0.25), (0.1, 0.4)])
def test_prelu(slopes: tuple[float, float]) -> None:
    """One slope is a table; several are no lines, and stay float."""
    g = Builder(np.random.default_rng(3))
    slope = g.constant(np.array(slopes, np.float32).reshape(2, 1, 1))
    model = g.typed_model([g.quantized(g.node("PRelu", [g.activation([1, 2, 5, 7]), slope]))])
    module = canonical(model)
    assert ("lookup" in operators(module)) == (slopes[0] == slopes[1])
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    np.testing.assert_array_equal(result, expected)


def test_two_vectors_along_different_axes_are_none() -> None:
    g = Builder(np.random.default_rng(4))
    moved = g.node("Add", [g.activation([1, 6, 5, 7]), _vector(g, -1, 1, 6, 1, 1)])
    module = canonical(g.typed_model([g.quantized(g.node("Mul", [moved, _vector(g, -1, 1, 7)]))]))
    assert "requantize" not in operators(module)


def test_halves_that_go_both_ways_stay() -> None:
    """Half of every step is a tie, and no shift rounds ties to even."""
    g = Builder(np.random.default_rng(5))
    one, zero = g.constant(np.float32(1)), g.constant(np.int8(0))
    x = g.node("DequantizeLinear", [g.integers([1, 2, 64], "int8")[0], one, zero])
    halves = g.node("Mul", [x, g.constant(np.array([[0.5], [1.5]], np.float32))])
    model = g.typed_model([g.node("QuantizeLinear", [halves, one, zero])])
    module = canonical(model)
    assert "requantize" not in operators(module)
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize("soc", ["siracusa", "snitch-ita"])
def test_on_cores(soc: str, tmp_path: Path) -> None:
    """Channels last and channels first, twice the same."""
    g = Builder(np.random.default_rng(6))
    model = g.typed_model([g.quantized(norm_and_relu(g, g.activation([1, 6, 9, 7])))])
    onnx.save(model, tmp_path / "m.onnx")
    (expected,) = onnxruntime_run(model, g.feeds)
    result = tvm_pulp.compile(tmp_path / "m.onnx", "c", soc=soc).run(g.feeds)
    (output,) = result.outputs.values()
    assert np.abs(output.astype(int) - expected.astype(int)).max() <= 1
