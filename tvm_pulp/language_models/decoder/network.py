"""The Relax module of a decoder for a number of rows: new tokens in, logits and new rows of the cache out.

    main(x[n, width], rotation[n, head], length[1], past_k_0[capacity, kv_width], past_v_0, past_k_1, ...)
        -> logits[n, vocabulary], k_0[n, kv_width], v_0, k_1, ...

`x` holds rows of the embedding, `rotation` those of the table of positions from `length` on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.frontend.zoo.weights import NORM_SHIFT, Block, DecoderWeights, Linear, Scale
from tvm_pulp.qnn.past_attention import exponential_table
from tvm_pulp.qnn.requant import Requant, narrow_enough

LOGITS, LENGTH = "logits", "length"


def input_names(layers: int) -> tuple[str, ...]:
    return ("x", "rotation", LENGTH, *(f"past_{kind}_{layer}" for layer in range(layers) for kind in "kv"))


def output_names(layers: int) -> tuple[str, ...]:
    return (LOGITS, *(f"{kind}_{layer}" for layer in range(layers) for kind in "kv"))


def decoder_module(weights: DecoderWeights, rows: int, capacity: int) -> Any:
    """The module for `rows` new tokens over a cache of `capacity`."""
    return _Module(weights, rows, capacity).build()


class _Module:
    def __init__(self, weights: DecoderWeights, rows: int, capacity: int) -> None:
        self._weights, self._rows, self._capacity = weights, rows, capacity
        self._builder = relax.BlockBuilder()
        self._table = exponential_table(weights.score_steps)

    def build(self) -> Any:
        shape, builder = self._weights.shape, self._builder
        specs = [((self._rows, shape.width), "int8"), ((self._rows, shape.head), "int16"), ((1,), "int32")]
        specs += [((self._capacity, shape.kv_width), "int8")] * (2 * shape.layers)
        names = input_names(shape.layers)
        variables = [relax.Var(n, relax.TensorType(s, d)) for n, (s, d) in zip(names, specs, strict=True)]
        with builder.function("main", variables):
            with builder.dataflow():
                x, rotation, length, *past = variables
                new: list[Any] = []
                for index, block in enumerate(self._weights.blocks):
                    cache = past[2 * index : 2 * index + 2]
                    x, rows = self._block(block, x, rotation, length, cache)
                    new += rows
                normal = self._norm(x, self._weights.norm)
                operands = [normal, self._weights.embedding, self._weights.head_bias.astype(np.int32)]
                logits = self._emit("dense", operands, {"zero_point": 0, "has_bias": 1, "requant": "none"})
                results = [builder.emit_output(value) for value in (logits, *new)]
            builder.emit_func_output(relax.Tuple(results))
        return builder.get()

    def _emit(self, name: str, arguments: Sequence[Any], attributes: dict[str, Any] | None = None) -> Any:
        values = [relax.const(a) if isinstance(a, np.ndarray) else a for a in arguments]
        return self._builder.emit(self._builder.normalize(qnn.emit(name, values, attributes)))

    def _norm(self, x: Any, weight: np.ndarray) -> Any:
        wide = int(128 * int(np.abs(weight.astype(np.int64)).max()) >= 1 << 30)
        attributes = {"shift": NORM_SHIFT, "levels": 256, "wide": wide}
        return self._emit("rms_norm", [x, weight.astype(np.int32)], attributes)

    def _linear(self, x: Any, linear: Linear) -> Any:
        bound = 128 * int(np.abs(linear.weight.astype(np.int64)).sum(1).max())
        rule, tensors = _requant(linear.scale, bound)
        return self._emit("dense", [x, linear.weight, *tensors], {"zero_point": 0, "has_bias": 0, **rule.attributes()})

    def _sum(self, x: Any, branch: Any, scale: Scale) -> Any:
        side, tensors = _requant(scale, 128)
        whole, ones = _requant(Scale(np.ones(1, np.int64), np.zeros(1, np.int64), 0), 256)
        attributes = {"form": "plain", **side.attributes("requant_a"), "requant_b": "none", **whole.attributes()}
        return self._emit("add", [x, branch, *tensors, *ones], attributes)

    def _product(self, a: Any, b: Any, scale: Scale) -> Any:
        rule, tensors = _requant(scale, 128 * 128)
        return self._emit("mul", [a, b, *tensors], {"zero_point_a": 0, "zero_point_b": 0, **rule.attributes()})

    def _block(self, block: Block, x: Any, rotation: Any, length: Any, past: Sequence[Any]) -> tuple[Any, list[Any]]:
        normal = self._norm(x, block.norm1)
        q, k = (self._emit("rotary", [self._linear(normal, linear), rotation]) for linear in (block.q, block.k))
        v = self._linear(normal, block.v)
        mixed = self._attention(block, (q, k, v), past, length)
        x = self._sum(x, self._linear(mixed, block.o), block.sum1)
        normal = self._norm(x, block.norm2)
        gate = self._emit("lookup", [self._linear(normal, block.gate), block.silu])
        both = self._product(gate, self._linear(normal, block.up), block.product)
        return self._sum(x, self._linear(both, block.down), block.sum2), [k, v]

    def _attention(self, block: Block, new: Sequence[Any], past: Sequence[Any], length: Any) -> Any:
        """Of one token in three parts: cores look at the cache while an accelerator makes its key and its value."""
        shape, (mul, shift), (q, k, v) = self._weights.shape, block.score, new
        heads = {"heads": shape.heads, "kv_heads": shape.kv_heads}
        attributes = {**heads, "mul": mul, "shift": shift}
        if self._rows > 1:
            return self._emit("past_attention", [q, k, v, *past, length, self._table], attributes)
        scores = self._emit("past_scores", [q, past[0], length], attributes)
        mix = self._emit("past_mix", [q, k, scores, past[1], length, self._table], attributes)
        return self._emit("past_mean", [mix, v], {**heads, "keys": self._capacity + 1})


def _requant(scale: Scale, bound: int) -> tuple[Requant, list[np.ndarray]]:
    """The rule and its tensors; narrow where no accumulator up to `bound` leaves 32 bits."""
    wide = not narrow_enough(bound, scale.mul, scale.add)
    rule = Requant("pulp", scale.shift, 0, -128, 127, wide=wide)
    return rule, [scale.mul.astype(np.int32), scale.add.astype(np.int32)]
