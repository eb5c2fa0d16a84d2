"""Models of JAX, Keras and TensorFlow beside these themselves: right ones pass, a wrong import is named."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import tvmc
from tvm_pulp.frontend.frameworks import as_program
from tvm_pulp.report.verify import LayerTable

jax = pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")
os.environ.setdefault("KERAS_BACKEND", "jax")
keras = pytest.importorskip("keras", reason="Keras: scripts/test --jax installs it")
linen = pytest.importorskip("flax.linen", reason="Flax: scripts/test --jax installs it")

from jax import numpy as jnp  # noqa: E402  (needs jax)

from tvm_pulp.frontend.stablehlo_program import elementwise, translate  # noqa: E402

pytestmark = pytest.mark.jax
X = np.random.default_rng(0).normal(size=(1, 12)).astype(np.float32)


class Block(linen.Module):  # type: ignore[misc]
    @linen.compact
    def __call__(self, x: Any) -> Any:
        return jnp.tanh(linen.Dense(8)(x))


class Network(linen.Module):  # type: ignore[misc]
    @linen.compact
    def __call__(self, x: Any) -> Any:
        return linen.Dense(4)(Block(name="block1")(x))


def flax_model() -> Any:
    module = Network()
    return module.bind(module.init(jax.random.key(0), X))


def keras_model() -> Any:
    given = keras.Input((12,), batch_size=1, name="features")
    x = keras.layers.Dense(8, activation="tanh", name="block1_dense")(given)
    return keras.Model(given, keras.layers.Dense(4, name="head")(x))


def saturated(x: Any) -> Any:
    """As quantizers write it: numbers beyond the range become the nearest."""
    return jax.lax.dot_general(
        jnp.round(x * 100).astype(jnp.int8),
        jnp.arange(-24, 24, dtype=jnp.int8).reshape(12, 4),
        (((1,), (0,)), ((), ())),
        preferred_element_type=jnp.int32,
    ).astype(jnp.float32)


def compared(model: Any) -> LayerTable:
    examples = None if type(model).__module__.startswith("keras") else (X,)
    result = tvm_pulp.compile(model, example_inputs=examples, keep_layers=True).run([X], layers=True)
    return result.compare()


@pytest.fixture
def wrong_tanh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(translate.OPERATORS, "tanh", elementwise.unary("Sin"))
    return


def test_flax_layer_by_layer() -> None:
    table = compared(flax_model())
    assert table.framework == "JAX" and table.first_wrong is None and not table.unseen, table.sentence
    assert "block1/Dense_0" in {row.tensor for row in table.rows} and "Dense_0" in {row.name for row in table.rows}
    assert all(row.tensor for row in table.rows)


@pytest.mark.slow
def test_keras_layer_by_layer() -> None:
    table = compared(keras_model())
    assert table.framework == "Keras" and table.first_wrong is None and not table.unseen, table.sentence
    assert {"block1_dense", "head"} & {row.name for row in table.rows}
    assert "block1_dense" in {row.tensor for row in table.rows}


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_tanh")
def test_a_wrong_import_of_flax() -> None:
    table = compared(flax_model())
    assert "'Network_block1'" in table.sentence and "is not what JAX computes" in table.sentence, table.sentence


@pytest.mark.usefixtures("wrong_tanh")
def test_a_wrong_import_of_keras() -> None:
    table = compared(keras_model())
    assert table.first_wrong == "block1_dense_tanh" and "is not what Keras computes" in table.sentence, table.sentence


@pytest.mark.slow
def test_a_program_that_is_not_the_model() -> None:
    """What was exported in another state than it is in now: only the framework itself tells."""
    model = keras_model()
    program = as_program(model, None)
    model.get_layer("head").bias.assign(np.ones(4))
    table = compared_program(program)
    assert table.first_wrong == "head" and "is not what Keras computes for 'output'" in table.sentence


def compared_program(program: Any) -> LayerTable:
    return tvm_pulp.compile(program, keep_layers=True).run([X], layers=True).compare()


def test_a_wrong_import_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conversion to few bits that wraps around, as ONNX allows it."""
    exported = jax.export.export(jax.jit(saturated))(X)
    path = tmp_path / "net.stablehlo"
    path.write_bytes(exported.mlir_module_serialized)
    np.savez(tmp_path / "in.npz", X)
    done = tvmc(capsys, "verify", "-q", path, "-i", tmp_path / "in.npz")
    assert done.status == 0 and "from XLA" in done.out, done
    wrapped = elementwise.of_one(lambda v, node, x: v.g.emit("Cast", x, to=elementwise.onnx_type(node.dtype)))
    monkeypatch.setitem(translate.OPERATORS, "convert", wrapped)
    done = tvmc(capsys, "verify", "-q", path, "-i", tmp_path / "in.npz")
    assert done.status == 1 and "is not what XLA computes" in done.err, done


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("is_wrong", [False, True])
def test_tensorflow(is_wrong: bool, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tf = pytest.importorskip("tensorflow", reason="TensorFlow: scripts/test --tensorflow installs it")
    if is_wrong:
        monkeypatch.setitem(translate.OPERATORS, "tanh", elementwise.unary("Sin"))
    weights = np.random.default_rng(1).normal(size=(12, 4)).astype(np.float32)

    class Model(tf.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            self.kernel = tf.Variable(weights, name="head/kernel")

        @tf.function(input_signature=[tf.TensorSpec((1, 12), name="features")])
        def __call__(self, x: Any) -> Any:
            return tf.tanh(x) @ self.kernel

    model = Model()
    tf.saved_model.save(model, tmp_path / "saved", signatures=model.__call__)
    np.savez(tmp_path / "in.npz", X)
    done = tvmc(capsys, "verify", "-q", tmp_path / "saved", "-i", tmp_path / "in.npz")
    assert done.status == is_wrong and "from TensorFlow" in done.out, done
    assert ("is not what TensorFlow computes" in done.err) == is_wrong
