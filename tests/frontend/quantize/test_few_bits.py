"""Weights of four bits change the results of a layer less than rounding each for itself does."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.frontend.quantize.least_error import output_errors, round_weights, round_with_best_steps

pytest.importorskip("onnxruntime")


def correlated(source: np.random.Generator, rows: int, inputs: int) -> np.ndarray:
    """Inputs that are mixtures of a few."""
    mixture = source.standard_normal((inputs // 4, inputs))
    return source.standard_normal((rows, inputs // 4)) @ mixture + 0.1 * source.standard_normal((rows, inputs))


def test_the_error_of_outputs_is_a_fraction_of_nearest_roundings() -> None:
    source = np.random.default_rng(1)
    x, weights = correlated(source, 400, 48), source.standard_normal((20, 48))
    moment, steps = x.T @ x / len(x), np.abs(weights).max(1) / 8
    nearest = np.clip(np.rint(weights / steps[:, None]), -8, 7)
    made = round_weights(weights, moment, steps, -8, 7)
    assert made.min() >= -8 and made.max() <= 7
    errors = [output_errors(weights, found, steps, moment) for found in (nearest, made)]
    assert errors[1].sum() < 0.3 * errors[0].sum()
    # What the formula says is what happens.
    np.testing.assert_allclose(errors[1], ((x @ (made * steps[:, None] - weights).T) ** 2).mean(0))
    # Of several steps every output takes its best.
    _, chosen = round_with_best_steps(weights, moment, [steps, 0.8 * steps], -8, 7)
    assert set(np.round(chosen / steps, 3)) == {0.8, 1.0}


def test_independent_inputs_are_rounded_to_the_nearest() -> None:
    weights = np.random.default_rng(2).uniform(-7, 7, (5, 9))
    np.testing.assert_array_equal(round_weights(weights, np.eye(9), np.ones(5), -8, 7), np.rint(weights))


def two_products() -> Any:
    source = np.random.default_rng(3)
    shapes = {"first": (32, 48), "second": (10, 48)}
    constants = {name: source.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["h"], name="first_product"),
        helper.make_node("Relu", ["h"], ["r"], name="relu"),
        helper.make_node("Gemm", ["r", "second"], ["y"], transB=1, name="second_product"),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", (1, 32)), ("y", (1, 10)))]
    initializers = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "products", ends[:1], ends[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_a_model_of_four_bits_is_nearer_and_keeps_layers_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    import tvm_pulp
    from tvm_pulp.frontend.quantize import onnxruntime_quantizer

    samples = {"x": correlated(np.random.default_rng(4), 64, 32).astype(np.float32)}
    made = tvm_pulp.quantize(two_products(), samples, weight_bits=4)
    kept = tvm_pulp.quantize(two_products(), samples, weight_bits=4, keep=("first_product",))
    monkeypatch.setattr(onnxruntime_quantizer, "rounded_matrices", lambda *_: {})
    plain = tvm_pulp.quantize(two_products(), samples, weight_bits=4)
    assert made.accuracy.sqnr_db > plain.accuracy.sqnr_db + 3
    constants = {i.name: numpy_helper.to_array(i) for i in kept.model.graph.initializer}
    original = {i.name: numpy_helper.to_array(i) for i in two_products().graph.initializer}
    np.testing.assert_array_equal(constants["first"], original["first"])
    assert any(i.data_type == onnx.TensorProto.INT4 for i in made.model.graph.initializer)
