"""A small transformer encoder block: 64 tokens of 64 values, 4 heads of 16, feed-forward 256, GELU."""

from collections.abc import Sequence

from tvm_pulp.frontend.zoo import transformer_layers as layers
from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor
from tvm_pulp.frontend.zoo.sample_data import hidden_state
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

TOKENS, WIDTH, HEADS, HEAD, FEED_FORWARD = 64, 64, 4, 16, 256
BIAS_DEVIATION = 0.05


def linear(builder: Builder, name: str, x: CalibratedTensor, channels: int) -> CalibratedTensor:
    """Projection with bias and one multiplier per column."""
    return layers.per_column(builder, name, layers.projection(builder, name, x, channels, BIAS_DEVIATION))


def attention(builder: Builder, x: CalibratedTensor) -> CalibratedTensor:
    """Multi-head attention with softmax weights used as uint8."""
    query, keys, values = layers.projected_heads(builder, linear, "", x, HEADS, HEAD)
    # Room above the calibrated logits: the largest one decides a whole row.
    logits = builder.rescale("logits", layers.product(builder, "logits_acc", query, keys), headroom=1.25)
    weights = layers.softmax(builder, "softmax", logits)
    mixed = builder.rescale("mixed", layers.product(builder, "mixed_acc", weights, values))
    row = builder.reshape("mixed_row", builder.transpose("mixed_heads", mixed, 0, 2, 1, 3), 1, TOKENS, HEADS * HEAD)
    return linear(builder, "o", row, WIDTH)


def define(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
    x = inputs[0]
    x = builder.residual("add1", x, attention(builder, layers.layer_norm(builder, "norm1", x)))
    hidden = linear(builder, "feed1", layers.layer_norm(builder, "norm2", x), FEED_FORWARD)
    hidden = layers.gelu(builder, "gelu", hidden)
    builder.output(builder.residual("tokens_out", x, linear(builder, "feed2", hidden, WIDTH)))


NETWORKS = (
    ZooModel("vit_block", ("tokens",), lambda stream: [hidden_state(stream, 1, TOKENS, WIDTH)], define, 51_169, 4),
)
