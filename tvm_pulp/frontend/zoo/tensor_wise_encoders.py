"""Transformer encoders with one multiplier per tensor and a softmax in octaves, in shapes of published networks.

Weights are seeded. Inner lengths stay below 960, the longest sum of the accelerator that they are quantized for: longer
feed-forward networks are two halves whose results are added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.frontend.zoo import tensor_wise
from tvm_pulp.frontend.zoo import transformer_layers as layers
from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor
from tvm_pulp.frontend.zoo.random_stream import RandomStream
from tvm_pulp.frontend.zoo.sample_data import hidden_state
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

LONGEST_SUM = 960
TILE = 64


@dataclass(frozen=True)
class EncoderSizes:
    """Sizes of an encoder."""

    name: str
    tokens: int
    width: int
    heads: int
    head: int
    feed_forward: int
    layers: int
    parameters: int
    networks: int = 1  # feed-forward networks of a layer
    normalizes: bool = True  # LayerNorm, else a weight and a bias per column
    gelu: bool = True

    def define(self, builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
        x = inputs[0]
        for number in range(self.layers):
            x = self._layer(builder, f"layer{number}", x)
        builder.output(x)

    def sample(self, stream: RandomStream) -> list[np.ndarray]:
        return [hidden_state(stream, 1, self.tokens, self.width)]

    def _layer(self, builder: Builder, name: str, x: CalibratedTensor) -> CalibratedTensor:
        # A softmax over other than whole tiles runs on the cores, and its results are used as int8.
        levels = 256 if self.tokens % TILE == 0 else 128
        if self.normalizes:
            normal = layers.layer_norm(builder, f"{name}_norm1", x)
            made = tensor_wise.attention(builder, name, normal, self.heads, self.head, levels)
            x = tensor_wise.residual(builder, f"{name}_add1", x, made)
            normal = layers.layer_norm(builder, f"{name}_norm2", x)
            return tensor_wise.residual(builder, f"{name}_add2", x, self._feed_forward(builder, f"{name}_feed", normal))
        made = tensor_wise.attention(builder, name, x, self.heads, self.head, levels)
        x = tensor_wise.no_norm(builder, f"{name}_norm", tensor_wise.residual_sum(builder, f"{name}_add", x, made))
        for number in range(self.networks):
            part = f"{name}_feed{number}"
            made = self._feed_forward(builder, part, x)
            x = tensor_wise.no_norm(builder, f"{part}_norm", tensor_wise.residual_sum(builder, f"{part}_add", x, made))
        return x

    def _feed_forward(self, builder: Builder, name: str, x: CalibratedTensor) -> CalibratedTensor:
        hidden = tensor_wise.linear_gelu if self.gelu else tensor_wise.linear_relu
        count = -(-self.feed_forward // LONGEST_SUM)
        parts = []
        for number in range(count):
            made = hidden(builder, f"{name}_hidden{number}", x, self.feed_forward // count)
            parts.append(tensor_wise.linear(builder, f"{name}_out{number}", made, self.width))
        total = parts[0]
        for number, part in enumerate(parts[1:]):
            total = tensor_wise.residual(builder, f"{name}_sum{number}", total, part)
        return total


def _attention(heads: int) -> Callable[[Builder, Sequence[CalibratedTensor]], None]:
    def define(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
        builder.output(tensor_wise.attention(builder, "attention", inputs[0], heads, 64))

    return define


def _eight_heads(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
    """The first half of an encoder layer, for engines that run whole heads."""
    normal = layers.layer_norm(builder, "norm", inputs[0])
    made = tensor_wise.summed_heads(builder, "attention", normal, 8, 192)
    builder.output(tensor_wise.residual(builder, "residual", inputs[0], made))


def _mobilebert(name: str, layers: int, networks: int, parameters: int) -> EncoderSizes:
    return EncoderSizes(name, 128, 128, 4, 64, 512, layers, parameters, networks, normalizes=False, gelu=False)


ENCODERS = (
    _mobilebert("mobilebert", 24, 4, 15_843_576),
    _mobilebert("mobilebert_layer", 1, 4, 660_149),
    _mobilebert("mobilebert_narrow", 24, 1, 6_341_448),
    EncoderSizes("dinov2_layer", 241, 384, 6, 64, 1536, 1, 1_774_899),
    EncoderSizes("whisper_layer", 512, 384, 6, 64, 1536, 1, 1_774_899),
)
NETWORKS = (
    ZooModel("octave_attention", ("tokens",), lambda s: [hidden_state(s, 1, 128, 128)], _attention(4), 131_995, 2),
    ZooModel("octave_head", ("tokens",), lambda s: [hidden_state(s, 1, 128, 128)], _attention(1), 33_115, 2),
    ZooModel("eight_heads", ("tokens",), lambda s: [hidden_state(s, 1, 64, 128)], _eight_heads, 791_326, 2),
    *(ZooModel(e.name, ("tokens",), e.sample, e.define, e.parameters, 2) for e in ENCODERS),
)
