"""Decoders of Flax and Keras whose caches are arguments: state on the device, and the tokens that JAX gives."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.session import GenerationRequest

os.environ.setdefault("KERAS_BACKEND", "jax")
jax = pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")
pytest.importorskip("flax", reason="Flax: scripts/test --jax installs it")

from flax import linen  # noqa: E402  (these need jax)
from jax import numpy as jnp  # noqa: E402

from tests.frontend.stablehlo_program.flax_networks import seeded  # noqa: E402
from tvm_pulp.frontend.frameworks import as_program  # noqa: E402

pytestmark = pytest.mark.jax
VOCABULARY, WIDTH, HEADS, LAYERS, LONGEST = 48, 32, 4, 1, 64
SIZE = WIDTH // HEADS
PROMPT, STEPS = [5, 17, 3], 5


class Decoder(linen.Module):
    """Learned positions, caches of keys and values that grow along their third axis."""

    @linen.compact
    def __call__(self, ids: Any, positions: Any, past: Any) -> Any:
        x = linen.Embed(VOCABULARY, WIDTH, name="tokens")(ids) + linen.Embed(LONGEST, WIDTH, name="positions")(
            positions
        )
        seen, length = past[0][0].shape[2], ids.shape[1]
        rows, columns = jnp.arange(length)[:, None] + seen, jnp.arange(seen + length)[None]
        mask, present = jnp.where(columns <= rows, 0.0, -1e9), []
        for layer in range(LAYERS):
            y = linen.LayerNorm(name=f"norm{layer}")(x)
            q, k, v = (
                linen.Dense(WIDTH, name=f"{n}{layer}")(y).reshape(1, -1, HEADS, SIZE).swapaxes(1, 2) for n in "qkv"
            )
            k, v = (jnp.concatenate(pair, 2) for pair in zip(past[layer], (k, v), strict=True))
            weights = linen.softmax(q @ k.swapaxes(2, 3) / np.sqrt(SIZE) + mask)
            x = x + linen.Dense(WIDTH, name=f"o{layer}")((weights @ v).swapaxes(1, 2).reshape(1, -1, WIDTH))
            y = linen.gelu(linen.Dense(64, name=f"up{layer}")(linen.LayerNorm(name=f"norm{layer}b")(x)))
            x = x + linen.Dense(WIDTH, name=f"down{layer}")(y)
            present.append((k, v))
        return {"logits": linen.Dense(VOCABULARY, use_bias=False, name="head")(x), "present": present}


Step = Callable[[np.ndarray, np.ndarray, Any], Any]


def flax_decoder() -> tuple[Any, Step]:
    module = Decoder()
    past = [tuple(np.zeros((1, HEADS, 1, SIZE), np.float32) for _ in "kv") for _ in range(LAYERS)]
    given = (np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int32), past)
    variables = seeded(jax.eval_shape(module.init, jax.random.key(0), *given), 7)
    return module.bind(variables), jax.jit(lambda *a: module.apply(variables, *a))


def greedy(step: Step, prompt: list[int], count: int) -> list[int]:
    """What the framework generates, token by token."""
    past = [tuple(np.zeros((1, HEADS, 0, SIZE), np.float32) for _ in "kv") for _ in range(LAYERS)]
    ids, made = list(prompt), []
    for _ in range(count):
        seen = past[0][0].shape[2]
        result = step(np.array([ids], np.int32), np.arange(seen, seen + len(ids), dtype=np.int32)[None], past)
        past = jax.tree_util.tree_map(np.asarray, result["present"])
        ids = [int(np.asarray(result["logits"])[0, -1].argmax())]
        made += ids
    return made


def symbolic() -> tuple[Any, ...]:
    rows, seen = jax.export.symbolic_shape("rows, seen")
    ids = jax.ShapeDtypeStruct((1, rows), np.int32)
    past = [tuple(jax.ShapeDtypeStruct((1, HEADS, seen, SIZE), np.float32) for _ in "kv") for _ in range(LAYERS)]
    return ids, ids, past


def test_rows_behind_a_cache_are_the_frameworks() -> None:
    """For lengths that are chosen, the graph gives JAX' logits and caches."""
    module, step = flax_decoder()
    random = np.random.default_rng(2)
    ids, positions = np.array([[7, 30]], np.int32), np.array([[3, 4]], np.int32)
    past = [tuple(random.normal(size=(1, HEADS, 3, SIZE)).astype(np.float32) for _ in "kv") for _ in range(LAYERS)]
    leaves = [ids, positions, *jax.tree_util.tree_leaves(past)]
    program = as_program(module, symbolic())
    names = [i.name for i in program.interface().graph.input]
    shapes = {name: a.shape for name, a in zip(names, leaves, strict=True)}
    made = tvm_pulp.compile(program.at(shapes)).run(leaves).outputs
    wanted = jax.tree_util.tree_leaves(step(ids, positions, past))
    for found, value in zip(made.values(), wanted, strict=True):
        assert np.abs(found - value).max() <= 1e-5
    with pytest.raises(UserError, match="state --capacity N"):
        tvm_pulp.compile(module, example_inputs=symbolic())


def keras_decoder() -> tuple[Any, Step]:
    """The same, written with layers of Keras as its hub writes them: heads are axes of the weights."""
    keras = pytest.importorskip("keras", reason="Keras: scripts/test --jax installs it")
    if keras.backend.backend() != "jax":
        pytest.skip("Keras was imported with another backend: run with KERAS_BACKEND=jax")
    from keras import layers, ops

    class KerasDecoder(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = layers.Embedding(VOCABULARY, WIDTH, name="tokens")
            self.positions = layers.Embedding(LONGEST, WIDTH, name="positions")
            self.norms = [layers.LayerNormalization(name=f"norm{n}") for n in range(2)]
            self.heads = [layers.EinsumDense("abc,cde->adbe", (HEADS, None, SIZE), name=n) for n in "qkv"]
            self.out = layers.EinsumDense("adbe,dec->abc", (None, WIDTH), name="out")
            self.up = layers.Dense(64, activation="gelu", name="up")
            self.down = layers.Dense(WIDTH, name="down")
            self.head = layers.Dense(VOCABULARY, use_bias=False, name="head")

        def call(self, ids: Any, positions: Any, past: Any) -> Any:
            x = self.tokens(ids) + self.positions(positions)
            seen, length = past[0][0].shape[2], ids.shape[1]
            y = self.norms[0](x)
            q, k, v = (layer(y) for layer in self.heads)
            k, v = (ops.concatenate(pair, 2) for pair in zip(past[0], (k, v), strict=True))
            rows, columns = ops.arange(length)[:, None] + seen, ops.arange(seen + length)[None]
            mask = ops.where(columns <= rows, 0.0, -1e9)
            weights = ops.softmax(ops.matmul(q, ops.swapaxes(k, 2, 3)) / np.sqrt(SIZE) + mask)
            x = x + self.out(ops.matmul(weights, v))
            x = x + self.down(self.up(self.norms[1](x)))
            return {"logits": self.head(x), "present": [(k, v)]}

    model = KerasDecoder()
    ids = np.zeros((1, 1), np.int32)
    model(ids, ids, [tuple(np.zeros((1, HEADS, 1, SIZE), np.float32) for _ in "kv")])
    random = np.random.default_rng(7)
    for variable in model.variables:
        if "norm" not in variable.path:
            variable.assign(random.normal(0, 0.5, variable.shape))
    return model, lambda *given: model(*given)


@pytest.mark.slow
@pytest.mark.parametrize("decoder", [flax_decoder, keras_decoder])
def test_the_same_tokens_are_generated(decoder: Callable[[], tuple[Any, Step]]) -> None:
    module, step = decoder()
    wanted = greedy(step, PROMPT, STEPS)
    app = tvm_pulp.compile(module, "uma-neureka", example_inputs=symbolic(), capacity=8, planner="greedy")
    assert {"prefill", "decode"} <= set(app.metadata["tvm_pulp"]["decoder"]["entries"])
    assert app.generator().generate(GenerationRequest(PROMPT, STEPS)).tokens == wanted
