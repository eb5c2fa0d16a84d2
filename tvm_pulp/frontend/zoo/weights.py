"""An integer Llama as plain arrays: what both of its programs compute with."""

from dataclasses import dataclass

import numpy as np

NORM_SHIFT = 16


@dataclass(frozen=True)
class DecoderShape:
    """Sizes of a Llama-2 decoder whose embedding is also its last matrix."""

    width: int
    layers: int
    heads: int
    kv_heads: int
    hidden: int
    vocabulary: int

    @property
    def head(self) -> int:
        return self.width // self.heads

    @property
    def kv_width(self) -> int:
        return self.kv_heads * self.head


@dataclass(frozen=True)
class Scale:
    """clip((acc * mul + add) >> shift) to int8; one multiplier for all channels, or one each."""

    mul: np.ndarray
    add: np.ndarray
    shift: int


@dataclass(frozen=True)
class Linear:
    """weight[outputs, inputs] of int8 and the requantization of its sums."""

    weight: np.ndarray
    scale: Scale


@dataclass(frozen=True)
class Block:
    """One layer: attention, then the gated feed-forward."""

    norm1: np.ndarray
    q: Linear
    k: Linear
    v: Linear
    # q . k becomes a logit: (acc * mul + half) >> shift, `score_steps` of the decoder for a factor of e.
    score: tuple[int, int]
    o: Linear
    # Brings the input to the step of the sum; the branch arrives in that step.
    sum1: Scale
    norm2: np.ndarray
    gate: Linear
    silu: np.ndarray
    up: Linear
    product: Scale
    down: Linear
    sum2: Scale

    @property
    def linears(self) -> tuple[Linear, ...]:
        """All of its matrices."""
        return (self.q, self.k, self.v, self.o, self.gate, self.up, self.down)


@dataclass(frozen=True)
class DecoderWeights:
    """Everything that a decoder computes with, and the real value of one step of its logits."""

    shape: DecoderShape
    embedding: np.ndarray
    blocks: tuple[Block, ...]
    norm: np.ndarray
    # Added to the logits.
    head_bias: np.ndarray
    score_steps: int
    logit_step: float
    rotary_base: float = 10000.0
