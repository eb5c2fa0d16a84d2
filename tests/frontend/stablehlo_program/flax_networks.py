"""The kinds of networks that people bring, as they write them in Flax, with weights from NumPy."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from flax import linen
from flax.linen import Conv, ConvTranspose, Dense, LayerNorm, gelu, max_pool, relu, silu
from jax import numpy as jnp


def conv_norm(x: Any, filters: int, name: str, size: int = 3, stride: int = 1, groups: int = 1) -> Any:
    conv = Conv(filters, (size, size), stride, feature_group_count=groups, use_bias=False, name=f"{name}_conv")
    return relu(linen.BatchNorm(use_running_average=True, name=f"{name}_norm")(conv(x)))


def classified(x: Any) -> Any:
    return Dense(10, name="head")(x.mean((1, 2)))


def cnn(x: Any) -> Any:
    x = max_pool(conv_norm(x, 8, "first"), (2, 2), (2, 2))
    return classified(conv_norm(x, 16, "second"))


def depthwise(x: Any) -> Any:
    x = conv_norm(conv_norm(x, 16, "stem", stride=2), 16, "deep", groups=16)
    return classified(conv_norm(x, 32, "point", size=1))


def residual(x: Any) -> Any:
    x = conv_norm(x, 16, "stem")
    for number, (filters, stride) in enumerate(((16, 1), (32, 2), (64, 2))):
        inner = conv_norm(x, filters, f"block{number}_a", stride=stride)
        inner = Conv(filters, (3, 3), use_bias=False, name=f"block{number}_b_conv")(inner)
        inner = linen.BatchNorm(use_running_average=True, name=f"block{number}_b_norm")(inner)
        if stride > 1:
            x = Conv(filters, (1, 1), stride, name=f"block{number}_short")(x)
        x = relu(inner + x)
    return classified(x)


def unet(x: Any) -> Any:
    wide = conv_norm(x, 8, "down")
    low = conv_norm(max_pool(wide, (2, 2), (2, 2)), 16, "low")
    up = ConvTranspose(8, (2, 2), (2, 2), name="up")(low)
    return Conv(4, (1, 1), name="last")(jnp.concatenate([up, wide], -1))


def detector(x: Any) -> Any:
    near = silu(conv_norm(x, 16, "stem", stride=2))
    far = conv_norm(near, 32, "deep", stride=2)
    both = jnp.concatenate([far.repeat(2, 1).repeat(2, 2), near], -1)
    return [linen.sigmoid(Conv(12, (1, 1), name=n)(x)) for n, x in (("near", both), ("far", far))]


def tcn(x: Any) -> Any:
    for rate in (1, 2, 4):
        x = x + relu(Conv(16, (3,), padding="CAUSAL", kernel_dilation=rate, name=f"conv{rate}")(x))
    return Dense(5, name="head")(x.mean(1))


def gru(x: Any) -> Any:
    return Dense(4, name="head")(linen.RNN(linen.GRUCell(16, name="cell"), name="body")(x)[:, -1])


def encoder_layer(x: Any, name: str, mask: Any = None) -> Any:
    inner = LayerNorm(name=f"{name}_norm1")(x)
    attention = linen.MultiHeadDotProductAttention(4, qkv_features=32, name=f"{name}_attention")
    x = x + attention(inner, mask=mask)
    inner = gelu(Dense(64, name=f"{name}_up")(LayerNorm(name=f"{name}_norm2")(x)), approximate=False)
    return x + Dense(32, name=f"{name}_down")(inner)


def transformer(x: Any) -> Any:
    return encoder_layer(x, "layer")


def vit(x: Any) -> Any:
    x = Conv(32, (4, 4), 4, name="patch")(x).reshape(1, 16, 32)
    x = x + linen.Embed(16, 32, name="positions").embedding
    return Dense(10, name="head")(encoder_layer(x, "layer").mean(1))


def gpt(ids: Any) -> Any:
    x = linen.Embed(40, 32, name="tokens")(ids) + linen.Embed(8, 32, name="positions").embedding
    x = encoder_layer(x, "layer", linen.make_causal_mask(ids))
    return Dense(40, use_bias=False, name="logits")(LayerNorm(name="norm")(x))


def mlp(x: Any) -> Any:
    for number in range(2):
        x = relu(Dense(32, name=f"hidden{number}")(x))
    return linen.softmax(Dense(8, name="head")(x))


def autoencoder(x: Any) -> Any:
    for number, size in enumerate((32, 8, 32)):
        x = linen.BatchNorm(use_running_average=True, name=f"norm{number}")(Dense(size, name=f"dense{number}")(x))
        x = relu(x)
    return Dense(64, name="last")(x)


NETWORKS: dict[str, Callable[[Any], Any]] = {
    f.__name__: f for f in (cnn, depthwise, residual, unet, detector, tcn, gru, transformer, vit, gpt, mlp, autoencoder)
}
# All others see a picture.
SHAPES = dict.fromkeys(("mlp", "autoencoder"), (1, 64)) | {
    "tcn": (1, 24, 16),
    "gru": (1, 6, 12),
    "transformer": (1, 8, 32),
    "gpt": (1, 8),
}


class Network(linen.Module):
    """One of them."""

    kind: str

    @linen.compact
    def __call__(self, x: Any) -> Any:
        return NETWORKS[self.kind](x)


def seeded(shapes: Any, seed: int) -> Any:
    """Numbers as after training for parameters of these shapes."""
    random = np.random.default_rng(seed)

    def number(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path)
        if "var" in name or "scale" in name:
            return random.uniform(0.5, 1.5, leaf.shape).astype(np.float32)
        spread = 1 / np.sqrt(np.prod(leaf.shape[:-1])) if "kernel" in name else 0.1
        return random.normal(0, spread, leaf.shape).astype(np.float32)

    return jax.tree_util.tree_map_with_path(number, shapes)


def build(name: str) -> tuple[Any, list[np.ndarray]]:
    """A network bound to weights as after training, and an input for it."""
    seed, module = sum(name.encode()), Network(name)
    random, shape = np.random.default_rng(seed), SHAPES.get(name, (1, 16, 16, 3))
    x = random.integers(0, 40, shape).astype(np.int32) if name == "gpt" else random.normal(size=shape)
    x = x if name == "gpt" else x.astype(np.float32)
    return module.bind(seeded(jax.eval_shape(module.init, jax.random.key(0), x), seed)), [x]


def computed(model: Any, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What Flax gives."""
    plain, variables = model.unbind()
    return [np.asarray(a) for a in jax.tree_util.tree_leaves(jax.jit(plain.apply)(variables, *inputs))]
