"""Functions of one byte whose results stay float: 256 of them, equal to float32's to the last units."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("function", ["Sigmoid", "Tanh", "Exp", "Erf"])
def test_results_are_looked_up(function: str) -> None:
    for seed in range(4):
        g = Builder(np.random.default_rng(seed))
        model = g.typed_model([g.node(function, [g.activation([1, 9, 11])])])
        module = canonical(model)
        assert operators(module) == {"lookup"}
        (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-7)


def test_a_chain_is_one_table() -> None:
    g = Builder(np.random.default_rng(0))
    x = g.activation([1, 9, 11])
    silu = g.node("Mul", [x, g.node("Sigmoid", [x])])
    model = g.typed_model([g.node("Add", [silu, g.constant(np.float32(0.5))])])
    module = canonical(model)
    assert operators(module) == {"lookup"}
    (expected,), (result,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def test_cheap_functions_and_few_values_are_computed() -> None:
    g = Builder(np.random.default_rng(0))
    cheap = g.node("Relu", [g.activation([1, 9, 11])])
    few = g.node("Sigmoid", [g.activation([1, 9])])
    assert "lookup" not in operators(canonical(g.typed_model([cheap, few])))


def test_on_the_simulated_cores(tmp_path: Path) -> None:
    """What joins such floats does not take their table for one of bytes."""
    g = Builder(np.random.default_rng(2))
    x, y = g.activation([1, 9, 11]), g.activation([1, 9, 11])
    joined = g.node("Concat", [g.node("Sigmoid", [x]), g.node("Tanh", [y])], axis=1)
    path = tmp_path / "tables.onnx"
    onnx.save(g.typed_model([joined]), path)
    (expected,) = onnxruntime_run(onnx.load(path), g.feeds)
    (found,) = tvm_pulp.compile(path, "c", soc="siracusa").run(g.feeds).outputs.values()
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-6, atol=1e-7)
