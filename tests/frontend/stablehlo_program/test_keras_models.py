"""Keras models compile like any other: computed by JAX here."""

import os
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError

pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")
# Keras reads it when it is imported.
os.environ.setdefault("KERAS_BACKEND", "jax")
keras = pytest.importorskip("keras", reason="Keras: scripts/test --jax installs it")

from tests.frontend.stablehlo_program import keras_networks  # noqa: E402  (needs keras)
from tvm_pulp.frontend.frameworks import as_program  # noqa: E402

pytestmark = pytest.mark.jax


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", keras_networks.NETWORKS)
def test_float_on_the_host_equals_keras(name: str) -> None:
    model, inputs = keras_networks.build(name)
    expected = keras_networks.computed(model, inputs)
    made = tvm_pulp.compile(model).run(inputs).outputs
    for found, wanted in zip(made.values(), expected, strict=True):
        assert np.abs(found - wanted).max() <= 1e-4 * max(1, np.abs(wanted).max())


def test_a_model_without_shapes_is_one_sentence() -> None:
    model = keras.Sequential([keras.layers.Dense(3)])
    with pytest.raises(UserError, match=r"declares no inputs: give example_inputs"):
        tvm_pulp.compile(model)


def check_quantized_by_keras(model: Any, inputs: list[np.ndarray], integer_products: int) -> None:
    (expected,) = keras_networks.computed(model, inputs)
    program = as_program(model, None)
    operators = [n.op_type for n in program.onnx_model({}).graph.node]
    assert operators.count("MatMulInteger") == integer_products
    (made,) = tvm_pulp.compile(program, "uma-neureka").run(inputs).outputs.values()
    assert np.abs(made - expected).max() <= 1e-7


def test_a_layer_that_keras_quantized() -> None:
    """Integers as Keras computes them: ranges of the values at run time, and a product of integers."""
    random = np.random.default_rng(3)
    model = keras.Sequential([keras.Input((6,), batch_size=1), keras.layers.Dense(4, "softmax", name="only")])
    model.layers[0].kernel.assign(random.normal(size=(6, 4)))
    model.quantize("int8")
    check_quantized_by_keras(model, [random.normal(size=(1, 6)).astype(np.float32)], 1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["int8", "int4"])
def test_models_that_keras_quantized(mode: str) -> None:
    """Four-bit values stay in float products."""
    model, inputs = keras_networks.build("mlp")
    model.quantize(mode)
    check_quantized_by_keras(model, inputs, 3 if mode == "int8" else 0)
