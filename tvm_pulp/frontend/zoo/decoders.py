"""Language models of the zoo: Llama-2 decoders, one trained, others with random weights that fill their eight bits."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tvm_pulp.frontend.zoo.random_stream import RandomStream
from tvm_pulp.frontend.zoo.weights import (
    NORM_SHIFT,
    DecoderBlock,
    DecoderShape,
    DecoderWeights,
    Linear,
    Scale,
    load_weights,
)

# A normalized value of one, the deviation of a projection and that of a residual branch, in steps.
NORM_STEPS, PROJECTION_STEPS, BRANCH_STEPS = 48, 40, 16
WEIGHT_DEVIATION = 32.0
SCORE_STEPS = 32


@dataclass(frozen=True)
class DecoderModel:
    """Shape of a decoder, and the size of its cache and of a chunk of a prompt unless the user says otherwise."""

    shape: DecoderShape
    capacity: int = 256
    chunk: int = 32


# Trained on the stories of scripts/story_model, and that way made into integers of eight bits, then of four.
STORIES = "story_llama"
STORIES_OF_FOUR_BITS = f"{STORIES}_w4"
_TRAINED = (STORIES, STORIES_OF_FOUR_BITS)
MODELS = {
    "llama_0.5m": DecoderModel(DecoderShape(64, 8, 16, 16, 256, 512)),
    "llama_4.2m": DecoderModel(DecoderShape(256, 8, 8, 8, 344, 512)),
    **{name: DecoderModel(DecoderShape(256, 8, 8, 8, 344, 512)) for name in _TRAINED},
}


def build_decoder(name: str) -> DecoderWeights:
    """Weights of a decoder of the zoo: trained ones for the stories, else random ones."""
    if name in _TRAINED:
        return load_weights(Path(__file__).with_name(f"{name}.npz"))
    return random_decoder_of(MODELS[name].shape, name, 0)


def tokenizer_file(name: str) -> bytes | None:
    """The tokenizer of a decoder that was trained on text."""
    return Path(__file__).with_name(f"{STORIES}_tokenizer.json").read_bytes() if name in _TRAINED else None


def fixed_point(factor: float, bound: int) -> tuple[int, int]:
    """mul and shift of a factor, as precise as 31 bits allow for accumulators up to `bound`."""
    for shift in range(24, 0, -1):
        mul = max(1, round(factor * (1 << shift)))
        if bound * mul + (1 << shift) < 1 << 31 and mul < 1 << 24:
            return mul, shift
    raise ValueError(f"a factor of {factor} leaves no room for accumulators of {bound}")


class _Random:
    """Draws the parts of one decoder."""

    def __init__(self, name: str, seed: int) -> None:
        self._name, self._seed = name, seed

    def stream(self, *key: str | int) -> RandomStream:
        return RandomStream(self._name, self._seed, *key)

    def bytes(self, key: str, *shape: int) -> np.ndarray:
        values = np.rint(self.stream(key).normal(*shape) * WEIGHT_DEVIATION)
        return np.clip(values, -127, 127).astype(np.int8)

    def linear(self, key: str, outputs: int, inputs: int, deviation: float, goal: float) -> Linear:
        """Inputs of a deviation, outputs of another; channels differ by a third."""
        weight = self.bytes(key, outputs, inputs)
        bound = 128 * int(np.abs(weight.astype(np.int64)).sum(1).max())
        factor = goal / (math.sqrt(inputs) * deviation * WEIGHT_DEVIATION)
        mul, shift = fixed_point(factor * 1.4, bound)
        spread = self.stream(key, "gain").uniform(0.5, 1.0, outputs)
        muls = np.maximum(1, np.rint(mul * spread)).astype(np.int64)
        return Linear(weight, Scale(muls, np.full(outputs, 1 << shift >> 1, np.int64), shift))

    def norm(self, key: str, width: int) -> np.ndarray:
        return np.rint(self.stream(key).uniform(0.8, 1.2, width) * (NORM_STEPS << NORM_SHIFT)).astype(np.int64)


def _one(factor: float, bound: int) -> Scale:
    mul, shift = fixed_point(factor, bound)
    return Scale(np.array([mul]), np.array([1 << shift >> 1]), shift)


def silu_table(step: float, out_step: float) -> np.ndarray:
    """SiLU of int8 values of one step, in another."""
    x = np.arange(-128, 128) * step
    return np.clip(np.rint(x / (1 + np.exp(-x)) / out_step), -128, 127).astype(np.int8)


def random_decoder_of(shape: DecoderShape, name: str, seed: int) -> DecoderWeights:
    """A decoder of any shape; the name is part of the seed, and the same seed gives the same numbers everywhere."""
    random = _Random(name, seed)
    width, kv, hidden = shape.width, shape.kv_width, shape.hidden
    # Deviation of a logit of 2: q . k of independent heads, over its square root.
    score = fixed_point(2 * SCORE_STEPS / (math.sqrt(shape.head) * PROJECTION_STEPS**2), 128 * 128 * shape.head)
    while 128 * 128 * shape.head * score[0] >= 1 << 30:
        score = (score[0] >> 1, score[1] - 1)
    silu = silu_table(4 / 127, 4 / 127)

    def block(index: int) -> DecoderBlock:
        def linear(key: str, outputs: int, inputs: int, deviation: float, goal: float = PROJECTION_STEPS) -> Linear:
            return random.linear(f"{index} {key}", outputs, inputs, deviation, goal)

        return DecoderBlock(
            norm1=random.norm(f"{index} norm1", width),
            q=linear("q", width, width, NORM_STEPS),
            k=linear("k", kv, width, NORM_STEPS),
            v=linear("v", kv, width, NORM_STEPS),
            score=score,
            o=linear("o", width, width, PROJECTION_STEPS / 2, BRANCH_STEPS),
            sum1=_one(0.95, 128),
            norm2=random.norm(f"{index} norm2", width),
            gate=linear("gate", hidden, width, NORM_STEPS),
            silu=silu,
            up=linear("up", hidden, width, NORM_STEPS),
            product=_one(1 / 40, 128 * 128),
            down=linear("down", width, hidden, 24, BRANCH_STEPS),
            sum2=_one(0.95, 128),
        )

    return DecoderWeights(
        shape=shape,
        embedding=random.bytes("embedding", shape.vocabulary, width),
        blocks=tuple(block(i) for i in range(shape.layers)),
        norm=random.norm("norm", width),
        head_bias=np.rint(random.stream("head").normal(shape.vocabulary) * 500).astype(np.int32),
        score_steps=SCORE_STEPS,
        logit_step=4 / (math.sqrt(width) * NORM_STEPS * WEIGHT_DEVIATION),
    )
