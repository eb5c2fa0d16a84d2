"""Functions, SavedModels and Keras models of TensorFlow, by the StableHLO that its compiler writes."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import check_refused, tvmc

tf = pytest.importorskip("tensorflow", reason="TensorFlow: scripts/test --tensorflow installs it")
pytest.importorskip("jax", reason="JAX: scripts/test --tensorflow installs it")

from tvm_pulp.frontend.frameworks import as_program  # noqa: E402  (needs both)

pytestmark = [pytest.mark.tensorflow, pytest.mark.jax, pytest.mark.slow]


class Scaled(tf.Module):  # type: ignore[misc]
    """A convolution, a norm and a product."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        self.kernel = tf.Variable(random.normal(size=(3, 3, 3, 8)).astype(np.float32), name="stem/kernel")
        self.matrix = tf.Variable(random.normal(size=(8, 4)).astype(np.float32), name="head/kernel")

    @tf.function(input_signature=[tf.TensorSpec((1, 8, 8, 3), name="image")])
    def __call__(self, image: Any) -> Any:
        x = tf.nn.relu(tf.nn.conv2d(image, self.kernel, 1, "SAME"))
        return tf.nn.softmax(tf.reduce_mean(x, (1, 2)) @ self.matrix)


def test_a_function_a_saved_model_and_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, image = Scaled(), np.random.default_rng(1).normal(size=(1, 8, 8, 3)).astype(np.float32)
    expected = model(image).numpy()
    (found,) = tvm_pulp.compile(model.__call__, example_inputs=(image,)).run([image]).outputs.values()
    assert np.abs(found - expected).max() <= 1e-5
    tf.saved_model.save(model, tmp_path / "saved", signatures=model.__call__)
    np.savez(tmp_path / "in.npz", image)
    done = tvmc(capsys, "verify", "-q", tmp_path / "saved", "-i", tmp_path / "in.npz")
    assert done.status == 0 and "from TensorFlow" in done.out, done


ACTIVATIONS = {
    "gelu": (lambda x: tf.nn.gelu(x), "Gelu"),
    "gelu by tanh": (lambda x: tf.nn.gelu(x, approximate=True), "Gelu"),
    "erf": (tf.math.erf, "Erf"),
    "softplus": (tf.nn.softplus, "Softplus"),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_functions_that_tensorflow_writes_as_polynomials(name: str) -> None:
    function, operator = ACTIVATIONS[name]
    program = as_program(tf.function(function), (np.zeros((4, 8), np.float32),))
    assert [n.op_type for n in program.onnx_model({}).graph.node] == [operator, "Identity"]


ORDERS = {
    "the place of the largest": lambda x: tf.argmax(x, -1),
    "the place of the smallest": lambda x: tf.argmin(x, 0),
    "sorted": lambda x: tf.sort(x, direction="ASCENDING"),
    "the order of sorting": lambda x: tf.argsort(x, direction="DESCENDING", stable=True),
    "places of the largest three": lambda x: tf.math.top_k(x, 3)[1],
}


@pytest.mark.parametrize("name", ORDERS)
def test_places_and_orders(name: str) -> None:
    """Equal values, too."""
    x = np.random.default_rng(2).integers(-4, 4, (3, 9)).astype(np.float32)
    function = tf.function(ORDERS[name])
    (found,) = tvm_pulp.compile(function, example_inputs=(x,)).run([x]).outputs.values()
    expected = function(x).numpy()
    assert np.array_equal(found.reshape(expected.shape), expected)


def test_saved_models_with_python_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class WithPython(tf.Module):  # type: ignore[misc]
        @tf.function(input_signature=[tf.TensorSpec((2,))])
        def __call__(self, x: Any) -> Any:
            return tf.ensure_shape(tf.py_function(lambda v: v, [x], tf.float32), (2,))

    model = WithPython()
    tf.saved_model.save(model, tmp_path / "saved", signatures=model.__call__)
    done = tvmc(capsys, "compile", tmp_path / "saved", "-o", tmp_path / "n.tar")
    assert done.status == 2 and "EagerPyFunc, which is not known to stay within the graph" in done.err, done


def test_saved_models_that_write_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    canary = tmp_path / "canary"

    class Printing(tf.Module):  # type: ignore[misc]
        @tf.function(input_signature=[tf.TensorSpec((2,))])
        def __call__(self, x: Any) -> Any:
            tf.print("written", output_stream=f"file://{canary}")
            return x + 1

    model = Printing()
    tf.saved_model.save(model, tmp_path / "saved", signatures=model.__call__)
    done = tvmc(capsys, "compile", tmp_path / "saved", "-o", tmp_path / "n.tar")
    check_refused(done, ["is PrintV2, which is not known to stay within the graph"], "compile")
    assert not canary.exists()


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 50, b"\x08\x01", bytes(200)], ids=["empty", "noise", "no graph", "zeros"]
)
def test_bad_saved_models(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(content)
    done = tvmc(capsys, "compile", tmp_path / "saved", "-o", tmp_path / "n.tar")
    check_refused(done, ["write it again with tf.saved_model.save"], "compile")
    assert not (tmp_path / "n.tar").exists()


def test_keras_on_tensorflow() -> None:
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    keras = pytest.importorskip("keras")
    if keras.backend.backend() != "tensorflow":
        pytest.skip("Keras was imported with another backend: run with KERAS_BACKEND=tensorflow")
    from tests.frontend.stablehlo_program import keras_networks

    for name in ("cnn", "gru", "transformer"):
        model, inputs = keras_networks.build(name)
        expected = keras_networks.computed(model, inputs)
        made = tvm_pulp.compile(model).run(inputs).outputs
        for found, wanted in zip(made.values(), expected, strict=True):
            assert np.abs(found - wanted).max() <= 1e-4 * max(1, np.abs(wanted).max())
