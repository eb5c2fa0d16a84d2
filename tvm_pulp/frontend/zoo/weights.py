"""An integer Llama as plain arrays: what both of its programs compute with."""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.frontend.library_errors import refuse_library_errors
from tvm_pulp.output_files import output_file

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
    """weight[outputs, inputs] of up to eight bits in int8, and the requantization of its sums."""

    weight: np.ndarray
    scale: Scale


@dataclass(frozen=True)
class DecoderBlock:
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
    blocks: tuple[DecoderBlock, ...]
    norm: np.ndarray
    # Added to the logits.
    head_bias: np.ndarray
    score_steps: int
    logit_step: float
    rotary_base: float = 10000.0


def save_weights(path: Path, weights: DecoderWeights) -> None:
    """Write the file; the same weights give the same bytes."""
    arrays: dict[str, np.ndarray] = {}
    for part in fields(DecoderBlock):
        for suffix, values in _parts([getattr(block, part.name) for block in weights.blocks]).items():
            arrays[f"{part.name}{suffix}"] = values
    facts = {
        "shape": vars(weights.shape),
        "score_steps": weights.score_steps,
        "logit_step": weights.logit_step,
        "rotary_base": weights.rotary_base,
    }
    arrays |= {"embedding": weights.embedding, "norm": weights.norm.astype(np.int32), "head_bias": weights.head_bias}
    with output_file(path) as stream:
        np.savez_compressed(stream, facts=np.array(json.dumps(facts, sort_keys=True)), **arrays)  # type: ignore[arg-type]


def load_weights(path: Path) -> DecoderWeights:
    """Read a file that `save_weights` wrote."""
    with refuse_library_errors(f"'{path}' is not a file of decoder weights", ": make it with quantize.py", str):
        with np.load(path, allow_pickle=False) as content:
            arrays = dict(content)
        facts = json.loads(str(arrays["facts"]))
        shape = DecoderShape(**facts["shape"])
        blocks = tuple(_block(arrays, layer) for layer in range(shape.layers))
        return DecoderWeights(
            shape, arrays["embedding"], blocks, arrays["norm"].astype(np.int64), arrays["head_bias"],
            facts["score_steps"], facts["logit_step"], facts["rotary_base"],
        )  # fmt: skip


def _parts(values: list[Any]) -> dict[str, np.ndarray]:
    """One part of all layers as arrays by suffix."""
    first = values[0]
    if isinstance(first, Linear):
        return {"": np.stack([v.weight for v in values]), **_parts([v.scale for v in values])}
    if isinstance(first, Scale):
        return {
            "_mul": np.stack([v.mul for v in values]).astype(np.int32),
            "_add": np.stack([v.add for v in values]).astype(np.int32),
            "_shift": np.array([v.shift for v in values], np.int32),
        }
    stacked = np.stack([np.asarray(v) for v in values])
    return {"": stacked if stacked.dtype == np.int8 else stacked.astype(np.int32)}


def _block(arrays: dict[str, np.ndarray], layer: int) -> DecoderBlock:
    def scale(name: str) -> Scale:
        mul, add = (arrays[f"{name}_{kind}"][layer].astype(np.int64) for kind in ("mul", "add"))
        return Scale(mul, add, int(arrays[f"{name}_shift"][layer]))

    made: dict[str, Any] = {}
    for part in fields(DecoderBlock):
        if part.type is Linear:
            made[part.name] = Linear(arrays[part.name][layer], scale(part.name))
        elif part.type is Scale:
            made[part.name] = scale(part.name)
        elif part.name == "score":
            mul, shift = arrays["score"][layer].tolist()
            made[part.name] = (int(mul), int(shift))
        else:
            values = arrays[part.name][layer]
            made[part.name] = values if values.dtype == np.int8 else values.astype(np.int64)
    return DecoderBlock(**made)
