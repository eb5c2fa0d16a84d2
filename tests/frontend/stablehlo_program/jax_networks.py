"""Small networks of JAX with seeded weights from NumPy: functions, and modules of Flax and Equinox."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen, nnx

Case = tuple[Any, tuple[np.ndarray, ...]]


def seeded(tree: Any) -> Any:
    """A tree of arrays or shapes with other numbers, as after training."""
    random = np.random.default_rng(5)

    def number(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path)
        if "var" in name or "scale" in name:
            return random.uniform(0.5, 1.5, leaf.shape).astype(np.float32)
        return random.normal(0, 0.2, leaf.shape).astype(np.float32)

    return jax.tree_util.tree_map_with_path(number, tree)


class Linen(linen.Module):
    """Convolutions with norms, attention-like layers behind them."""

    @linen.compact
    def __call__(self, image: Any) -> Any:
        x = linen.relu(linen.BatchNorm(use_running_average=True)(linen.Conv(8, (3, 3), name="stem")(image)))
        x = linen.max_pool(x, (2, 2), (2, 2))
        x = linen.Conv(8, (3, 3), feature_group_count=8, name="deep")(x)
        x = linen.gelu(linen.LayerNorm(name="norm")(x)).mean((1, 2))
        return linen.softmax(linen.Dense(10, name="head")(x))


def linen_case() -> Case:
    image = np.random.default_rng(1).normal(size=(1, 16, 16, 3)).astype(np.float32)
    module = Linen()
    shapes = jax.eval_shape(module.init, jax.random.key(0), image)
    return module.bind(seeded(shapes)), (image,)


class Nnx(nnx.Module):
    """A residual block and a head; dropout as in training until it is told otherwise."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Conv(3, 16, (3, 3), rngs=rngs)
        self.second = nnx.Conv(16, 16, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(16, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.head = nnx.Linear(16, 4, rngs=rngs)

    def __call__(self, image: Any) -> Any:
        x = nnx.silu(self.first(image))
        x = nnx.relu(x + self.norm(self.second(x)))
        return self.head(self.drop(x.mean((1, 2))))


def nnx_case() -> Case:
    image = np.random.default_rng(2).normal(size=(1, 8, 8, 3)).astype(np.float32)
    return Nnx(nnx.Rngs(0)), (image,)


class Recurrent(eqx.Module):
    """A GRU over a sequence, which JAX scans, and a linear layer."""

    cell: eqx.nn.GRUCell
    head: eqx.nn.Linear

    def __call__(self, signal: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            return self.cell(x, state), None

        last, _ = jax.lax.scan(step, jnp.zeros(16), signal)
        return self.head(last)


def equinox_case() -> Case:
    keys = jax.random.split(jax.random.key(0))
    module = Recurrent(eqx.nn.GRUCell(12, 16, key=keys[0]), eqx.nn.Linear(16, 4, key=keys[1]))
    return module, (np.random.default_rng(3).normal(size=(6, 12)).astype(np.float32),)


def function_case() -> Case:
    """A causal attention layer written in `jax.numpy`, with its weights in the function."""
    w = seeded({n: jax.ShapeDtypeStruct((32, 32), np.float32) for n in ("q", "k", "v", "o")})

    def attention(x: Any) -> Any:
        q, k, v = ((x @ w[n]).reshape(1, 8, 4, 8) for n in "qkv")
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return x + mixed.reshape(1, 8, 32) @ w["o"]

    return attention, (np.random.default_rng(4).normal(size=(1, 8, 32)).astype(np.float32),)


CASES: dict[str, Callable[[], Case]] = {
    "linen": linen_case,
    "nnx": nnx_case,
    "function": function_case,
    "equinox": equinox_case,
}


def computed(model: Any, inputs: tuple[np.ndarray, ...]) -> np.ndarray:
    """What JAX gives, for inference."""
    if isinstance(model, nnx.Module):
        model = nnx.clone(model)
        model.eval()
        return np.asarray(nnx.jit(lambda m, *a: m(*a))(model, *inputs))
    if isinstance(model, linen.Module):
        plain, variables = model.unbind()
        return np.asarray(jax.jit(plain.apply)(variables, *inputs))
    return np.asarray((eqx.filter_jit(model) if isinstance(model, eqx.Module) else jax.jit(model))(*inputs))
