"""Turns the trained weights into the integer decoder that the zoo holds.

    python scripts/story_model/quantize.py FOLDER/story_llama_float.npz tvm_pulp/frontend/zoo/story_llama.npz

Weights have the bits that they were trained with; multipliers of weights of few bits have eight, which NEUREKA reads
four times as fast as longer ones.
Every step was learned while training with the roundings in place: nothing is calibrated here.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.frontend.zoo.decoders import fixed_point, silu_table
from tvm_pulp.frontend.zoo.weights import (
    NORM_SHIFT,
    DecoderBlock,
    DecoderShape,
    DecoderWeights,
    Linear,
    Scale,
    save_weights,
)

SCORE_STEPS = 32
# A normalized value is rounded down: what it stands for lies half a step above.
NORM_OFFSET = 0.5
LARGEST_SHORT = 255


class Trained:
    """Arrays of the file, and steps by the name of their point."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as content:
            self._arrays = dict(content)
        facts = json.loads(str(self._arrays["shape"]))
        names = ("width", "layers", "heads", "kv_heads", "hidden", "vocabulary")
        self.shape = DecoderShape(**{name: facts[name] for name in names})
        self.weight_bits: int = facts["weight_bits"]

    def array(self, name: str) -> np.ndarray:
        return self._arrays[name].astype(np.float64)

    def step(self, name: str) -> float:
        return math.exp(float(self._arrays[f"{name}.log_step"]))

    def matrix(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Integers of a matrix, and the scale of every output."""
        weight, most = self.array(f"{name}.weight"), 1 << (self.weight_bits - 1)
        if self.weight_bits < 8:
            scale = np.exp(self.array(f"{name}.log_scale"))
        else:
            scale = np.maximum(np.abs(weight).max(1), 1e-8) / 127
        return np.clip(np.rint(weight / scale[:, None]), -most, most - 1).astype(np.int64), scale


def multipliers(factors: np.ndarray, bound: int, is_short: bool) -> tuple[np.ndarray, int]:
    """Integers and a shift for factors of accumulators up to `bound`."""
    largest = float(factors.max())
    shift = math.floor(math.log2(LARGEST_SHORT / largest)) if is_short else fixed_point(largest, bound)[1]
    return np.maximum(1, np.rint(factors * 2.0**shift)).astype(np.int64), shift


def linear(trained: Trained, name: str, step: float, goal: float, offset: float) -> Linear:
    """Weights with a scale per output; inputs lie `offset` above their integers."""
    integers, scale = trained.matrix(name)
    bound = 128 * int(np.abs(integers).sum(1).max())
    mul, shift = multipliers(scale * step / goal, 2 * bound, trained.weight_bits < 8)
    add = np.rint(mul * offset * integers.sum(1)).astype(np.int64) + (1 << shift >> 1)
    return Linear(integers.astype(np.int8), Scale(mul, add, shift))


def one(factor: float, bound: int) -> Scale:
    mul, shift = fixed_point(factor, bound)
    return Scale(np.array([mul]), np.array([1 << shift >> 1]), shift)


def norm(trained: Trained, name: str) -> tuple[np.ndarray, float]:
    """Weights of an integer RMSNorm, and the step of its result."""
    step = trained.step(f"{name}.out")
    return np.rint(trained.array(f"{name}.gain") / step * (1 << NORM_SHIFT)).astype(np.int64), step


def score(trained: Trained, name: str) -> tuple[int, int]:
    head = trained.shape.head
    factor = trained.step(f"{name}.q_step") * trained.step(f"{name}.k_step") * SCORE_STEPS / math.sqrt(head)
    # The kernel wants products below 2^30.
    return fixed_point(factor, 2 * 128 * 128 * head)


def block(trained: Trained, index: int, source: float) -> DecoderBlock:
    name = f"blocks.{index}"
    attention, feed = f"{name}.attention", f"{name}.feed_forward"
    norm1, step1 = norm(trained, f"{name}.norm1")
    norm2, step2 = norm(trained, f"{name}.norm2")
    sum1, sum2 = trained.step(f"{name}.sum1"), trained.step(f"{name}.sum2")

    def layer(part: str, step: float, goal: float, offset: float = 0.0) -> Linear:
        return linear(trained, part, step, goal, offset)

    def projection(kind: str) -> Linear:
        return layer(f"{attention}.{kind}", step1, trained.step(f"{attention}.{kind}_step"), NORM_OFFSET)

    steps: dict[str, Any] = {kind: trained.step(f"{feed}.{kind}_step") for kind in ("gate", "silu", "up", "product")}
    return DecoderBlock(
        norm1=norm1,
        q=projection("q"),
        k=projection("k"),
        v=projection("v"),
        score=score(trained, attention),
        o=layer(f"{attention}.o", trained.step(f"{attention}.v_step"), sum1),
        sum1=one(source / sum1, 128),
        norm2=norm2,
        gate=layer(f"{feed}.gate", step2, steps["gate"], NORM_OFFSET),
        silu=silu_table(steps["gate"], steps["silu"]),
        up=layer(f"{feed}.up", step2, steps["up"], NORM_OFFSET),
        product=one(steps["silu"] * steps["up"] / steps["product"], 128 * 128),
        down=layer(f"{feed}.down", steps["product"], sum2),
        sum2=one(sum1 / sum2, 128),
    )


def quantized(trained: Trained) -> DecoderWeights:
    step = trained.step("embedding_step")
    embedding = np.clip(np.rint(trained.array("embedding") / step), -128, 127).astype(np.int8)
    blocks, source = [], step
    for index in range(trained.shape.layers):
        blocks.append(block(trained, index, source))
        source = trained.step(f"blocks.{index}.sum2")
    last, last_step = norm(trained, "norm")
    bias = np.rint(NORM_OFFSET * embedding.astype(np.int64).sum(1)).astype(np.int32)
    return DecoderWeights(trained.shape, embedding, tuple(blocks), last, bias, SCORE_STEPS, logit_step=step * last_step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("FLOAT", type=Path)
    parser.add_argument("INTEGER", type=Path)
    options = parser.parse_args()
    save_weights(options.INTEGER, quantized(Trained(options.FLOAT)))
    print(f"wrote {options.INTEGER}: {options.INTEGER.stat().st_size} bytes")


if __name__ == "__main__":
    main()
