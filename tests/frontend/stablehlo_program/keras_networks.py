"""Small networks in Keras' layers, with seeded weights: the same for each of its backends."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import keras
import numpy as np
from keras import layers, ops

Model = Any


def conv_norm(x: Any, filters: int, name: str, size: int = 3, stride: int = 1) -> Any:
    x = layers.Conv2D(filters, size, strides=stride, padding="same", use_bias=False, name=f"{name}_conv")(x)
    return layers.ReLU(name=f"{name}_relu")(layers.BatchNormalization(name=f"{name}_norm")(x))


def classified(x: Any) -> Any:
    return layers.Dense(10, name="head")(layers.GlobalAveragePooling2D(name="mean")(x))


def picture(side: int = 16) -> Any:
    return keras.Input((side, side, 3), batch_size=1, name="image")


def cnn() -> Model:
    image = picture()
    x = layers.MaxPooling2D(name="pool")(conv_norm(image, 8, "first"))
    return keras.Model(image, classified(conv_norm(x, 16, "second")))


def depthwise() -> Model:
    image = picture()
    x = conv_norm(image, 16, "stem", stride=2)
    x = layers.DepthwiseConv2D(3, padding="same", name="deep")(x)
    x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
    return keras.Model(image, classified(conv_norm(x, 32, "point", size=1)))


def residual() -> Model:
    image = picture()
    x = conv_norm(image, 16, "stem")
    for number, (filters, stride) in enumerate(((16, 1), (32, 2), (64, 2))):
        inner = conv_norm(x, filters, f"block{number}_a", stride=stride)
        inner = layers.Conv2D(filters, 3, padding="same", use_bias=False, name=f"block{number}_b_conv")(inner)
        inner = layers.BatchNormalization(name=f"block{number}_b_norm")(inner)
        if stride > 1:
            x = layers.Conv2D(filters, 1, strides=stride, name=f"block{number}_short")(x)
        x = layers.ReLU()(layers.Add(name=f"block{number}_sum")([inner, x]))
    return keras.Model(image, classified(x))


def unet() -> Model:
    image = picture()
    wide = conv_norm(image, 8, "down")
    low = conv_norm(layers.MaxPooling2D()(wide), 16, "low")
    up = layers.Conv2DTranspose(8, 2, strides=2, name="up")(low)
    return keras.Model(image, layers.Conv2D(4, 1, name="last")(layers.Concatenate()([up, wide])))


def detector() -> Model:
    image = picture()
    near = layers.Activation("silu")(conv_norm(image, 16, "stem", stride=2))
    far = conv_norm(near, 32, "deep", stride=2)
    both = layers.Concatenate()([layers.UpSampling2D(2)(far), near])
    heads = [layers.Conv2D(12, 1, activation="sigmoid", name=n)(x) for n, x in (("near", both), ("far", far))]
    return keras.Model(image, heads)


def tcn() -> Model:
    signal = keras.Input((24, 16), batch_size=1, name="signal")
    x = signal
    for rate in (1, 2, 4):
        inner = layers.Conv1D(16, 3, padding="causal", dilation_rate=rate, activation="relu", name=f"conv{rate}")(x)
        x = layers.Add()([x, inner])
    return keras.Model(signal, layers.Dense(5, name="head")(layers.GlobalAveragePooling1D()(x)))


def gru() -> Model:
    signal = keras.Input((6, 12), batch_size=1, name="signal")
    return keras.Model(signal, layers.Dense(4, name="head")(layers.GRU(16, name="body")(signal)))


def encoder_layer(x: Any, name: str, causal: bool = False) -> Any:
    inner = layers.LayerNormalization(name=f"{name}_norm1")(x)
    inner = layers.MultiHeadAttention(4, 8, name=f"{name}_attention")(inner, inner, use_causal_mask=causal)
    x = layers.Add()([x, inner])
    inner = layers.Dense(64, activation="gelu", name=f"{name}_up")(layers.LayerNormalization(name=f"{name}_norm2")(x))
    return layers.Add()([x, layers.Dense(32, name=f"{name}_down")(inner)])


def transformer() -> Model:
    signal = keras.Input((8, 32), batch_size=1, name="signal")
    return keras.Model(signal, encoder_layer(signal, "layer"))


def vit() -> Model:
    image = picture()
    x = layers.Conv2D(32, 4, strides=4, name="patch")(image)
    x = layers.Reshape((16, 32))(x)
    x = Positions(name="positions")(x)
    x = layers.GlobalAveragePooling1D()(encoder_layer(x, "layer"))
    return keras.Model(image, layers.Dense(10, name="head")(x))


class Positions(layers.Layer):
    """Adds a vector per position."""

    def build(self, shape: Any) -> None:
        self.table = self.add_weight(shape=(1, *shape[1:]), name="table")

    def call(self, x: Any) -> Any:
        return x + self.table


def gpt() -> Model:
    ids = keras.Input((8,), batch_size=1, dtype="int32", name="ids")
    x = layers.Embedding(40, 32, name="tokens")(ids)
    x = encoder_layer(Positions(name="positions")(x), "layer", causal=True)
    return keras.Model(ids, layers.Dense(40, use_bias=False, name="logits")(layers.LayerNormalization()(x)))


def mlp() -> Model:
    x = given = keras.Input((64,), batch_size=1, name="features")
    for number in range(2):
        x = layers.Dense(32, activation="relu", name=f"hidden{number}")(x)
    return keras.Model(given, layers.Dense(8, activation="softmax", name="head")(x))


def autoencoder() -> Model:
    given = keras.Input((64,), batch_size=1, name="features")
    x = given
    for number, size in enumerate((32, 8, 32)):
        x = layers.Dense(size, name=f"dense{number}")(x)
        x = layers.ReLU()(layers.BatchNormalization(name=f"norm{number}")(x))
    return keras.Model(given, layers.Dense(64, name="last")(x))


NETWORKS: dict[str, Callable[[], Model]] = {
    f.__name__: f for f in (cnn, depthwise, residual, unet, detector, tcn, gru, transformer, vit, gpt, mlp, autoencoder)
}


def _zeros(self: Any, shape: Any, dtype: Any = None, **_: Any) -> Any:
    return ops.convert_to_tensor(np.zeros(shape, np.float32))


def build(name: str) -> tuple[Model, list[np.ndarray]]:
    """A network with weights as after training, the same for every backend, and inputs for it."""
    # Weights come from NumPy; XLA would compile a drawing of random numbers for every shape.
    with patch.object(keras.initializers.VarianceScaling, "__call__", _zeros):
        model = NETWORKS[name]()
    random = np.random.default_rng(sum(name.encode()))
    for variable in model.variables:
        if variable.path.endswith(("moving_mean", "bias", "beta")):
            variable.assign(random.normal(0, 0.1, variable.shape))
        elif variable.path.endswith(("moving_variance", "gamma")):
            variable.assign(random.uniform(0.5, 1.5, variable.shape))
        else:
            reach = np.sqrt(max(1, np.prod(variable.shape[:-1]))) if "kernel" in variable.path else 1.0
            variable.assign(random.normal(0, 1 / reach, variable.shape))
    return model, [
        random.integers(0, 40, t.shape).astype(np.int32)
        if "int" in str(t.dtype)
        else random.normal(size=t.shape).astype(np.float32)
        for t in model.inputs
    ]


def computed(model: Model, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What Keras gives."""
    made = model(inputs[0] if len(inputs) == 1 else inputs, training=False)
    return [np.asarray(ops.convert_to_numpy(m)) for m in (made if isinstance(made, (list, tuple)) else [made])]
