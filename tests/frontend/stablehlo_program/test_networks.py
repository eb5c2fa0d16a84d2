"""Twelve networks of Keras on the accelerator: float as Keras computes them, int8 as onnxruntime does."""

import os

import numpy as np
import pytest
from onnx.numpy_helper import to_array

import tvm_pulp

pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")
onnxruntime = pytest.importorskip("onnxruntime")
os.environ.setdefault("KERAS_BACKEND", "jax")
pytest.importorskip("keras", reason="Keras: scripts/test --jax installs it")

from tests.frontend.stablehlo_program import keras_networks  # noqa: E402  (needs keras)
from tvm_pulp.frontend.frameworks import as_program  # noqa: E402

pytestmark = [pytest.mark.jax, pytest.mark.slow]


@pytest.mark.parametrize("name", keras_networks.NETWORKS)
def test_float(name: str) -> None:
    model, inputs = keras_networks.build(name)
    expected = keras_networks.computed(model, inputs)
    made = tvm_pulp.compile(model, "uma-neureka").run(inputs).outputs
    for found, wanted in zip(made.values(), expected, strict=True):
        assert np.abs(found - wanted).max() <= 1e-4 * max(1, np.abs(wanted).max())


# The three with attention differ from onnxruntime by up to five steps: docs/frameworks.md says so.
ATTENTION = ("transformer", "vit", "gpt")


@pytest.mark.parametrize("name", [n for n in keras_networks.NETWORKS if n not in ATTENTION])
def test_quantized(name: str) -> None:
    """One step of the output's scale at most."""
    model, inputs = keras_networks.build(name)
    random = np.random.default_rng(0)
    program = as_program(model, None)
    noise = [np.concatenate([a, *(random.normal(size=a.shape).astype(np.float32) for _ in range(3))]) for a in inputs]
    made = tvm_pulp.quantize(program, dict(zip(program.inputs, noise, strict=True))).model
    session = onnxruntime.InferenceSession(made.SerializeToString())
    wanted = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), inputs, strict=True)})
    found = tvm_pulp.compile(made, "uma-neureka").run(inputs).outputs
    steps = {i.name: to_array(i) for i in made.graph.initializer}
    makers = {o: n for n in made.graph.node for o in n.output}
    for output, ours, theirs in zip(made.graph.output, found.values(), wanted, strict=True):
        maker = makers[output.name]
        step = float(steps[maker.input[1]]) if maker.op_type == "DequantizeLinear" else 1e-4
        assert np.abs(ours - theirs).max() <= 1.001 * step
