"""The zoo's Llama: new tokens in, logits and new rows of the cache out, as a dialect module for a number of tokens.

    main(x[n, width], rotation[n, head], length[1], past_k_0[capacity, kv_width], past_v_0, past_k_1, ...)
        -> logits[n, vocabulary], k_0[n, kv_width], v_0, k_1, ...

`x` holds rows of the embedding, `rotation` those of the table of positions from `length` on. Values by element have
four positions of an element in a word: past_v_0[capacity / 4, kv_width * 4]; for n > 1, the input last_v_0[1, kv_width
* 4] is the part that the first new row belongs to, and v_0 has whole words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.frontend.zoo.weights import NORM_SHIFT, Block, DecoderWeights, Linear, Scale
from tvm_pulp.language_models.entry_module import LENGTH, CacheRows, EntryModule, Purpose, Source
from tvm_pulp.qnn.past_attention import exponential_table
from tvm_pulp.qnn.requant import Requant, narrow_enough
from tvm_pulp.qnn.rotary import rotation_table
from tvm_pulp.qnn.value_groups import TOGETHER


@dataclass(frozen=True)
class Llama:
    """A Llama of integers, the tokens that its cache holds, and those that prefill takes at a time."""

    weights: DecoderWeights
    capacity: int
    chunk: int
    # Four positions of an element of the values lie in a word.
    by_element: bool = False
    # Two programs fill L2 beside the weights of the larger ones.
    further_chunks: ClassVar[tuple[int, ...]] = ()

    @property
    def logit_step(self) -> float:
        """A logit of one in real numbers."""
        return self.weights.logit_step

    @property
    def parameters(self) -> int:
        """Elements of all matrices; the embedding is also the last one."""
        return self.weights.embedding.size + sum(m.weight.size for b in self.weights.blocks for m in b.linears)

    def encoder_module(self) -> None:
        """There is none."""

    def entry_module(self, rows: int, in_parts: bool = False) -> EntryModule | None:
        """The module for a number of tokens. Attention is never in parts: its operators look at any cache."""
        if in_parts:
            return None
        weights, shape = self.weights, self.weights.shape
        kinds = [f"{kind}_{layer}" for layer in range(shape.layers) for kind in "kv"]
        lasts = kinds[1::2] if self.by_element and rows > 1 else []
        # A chunk that begins with the last token looks at positions behind it.
        rotation = rotation_table(self.capacity + self.chunk - 1, shape.head, weights.rotary_base)
        sources = (
            Source("x", Purpose.TOKENS, weights.embedding),
            Source("rotation", Purpose.POSITIONS, rotation),
            Source(LENGTH, Purpose.LENGTH),
            *(Source(f"past_{kind}", Purpose.PAST) for kind in kinds),
            *(Source(f"last_{kind}", Purpose.PRESENT, cache=f"past_{kind}") for kind in lasts),
        )
        names = tuple(source.name for source in sources)
        module = _Module(weights, rows, self.capacity, by_element=self.by_element).build(names)
        together = {"k": 1, "v": TOGETHER if self.by_element else 1}
        caches = tuple(CacheRows(f"past_{kind}", kind, shape.kv_width, "int8", together[kind[0]]) for kind in kinds)
        imported = Imported(module, names, ("logits", *kinds), "pulp")
        return EntryModule(imported, sources, caches, self.capacity - 1, rows)


class _Module:
    def __init__(self, weights: DecoderWeights, rows: int, capacity: int, *, by_element: bool) -> None:
        self._weights, self._rows, self._capacity, self._by_element = weights, rows, capacity, by_element
        self._builder = relax.BlockBuilder()
        self._table = exponential_table(weights.score_steps)

    def build(self, names: Sequence[str]) -> Any:
        shape, builder = self._weights.shape, self._builder
        specs = [((self._rows, shape.width), "int8"), ((self._rows, shape.head), "int16"), ((1,), "int32")]
        keys = values = ((self._capacity, shape.kv_width), "int8")
        if self._by_element:
            values = ((-(-self._capacity // TOGETHER), TOGETHER * shape.kv_width), "int8")
        specs += [keys, values] * shape.layers
        specs += [((1, TOGETHER * shape.kv_width), "int8")] * (len(names) - len(specs))
        variables = [relax.Var(n, relax.TensorType(s, d)) for n, (s, d) in zip(names, specs, strict=True)]
        with builder.function("main", variables):
            with builder.dataflow():
                x, rotation, length, *past = variables
                lasts, new = past[2 * shape.layers :], list[Any]()
                for index, block in enumerate(self._weights.blocks):
                    cache = past[2 * index : 2 * index + 2]
                    x, (k, v) = self._block(block, x, rotation, length, cache)
                    new += [k, self._emit("value_groups", [v, lasts[index], length]) if lasts else v]
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

    def _gate(self, a: Any, b: Any, table: np.ndarray, scale: Scale) -> Any:
        rule, tensors = _requant(scale, 128 * 128)
        return self._emit("gate", [a, b, table, *tensors], rule.attributes())

    def _block(self, block: Block, x: Any, rotation: Any, length: Any, past: Sequence[Any]) -> tuple[Any, list[Any]]:
        normal = self._norm(x, block.norm1)
        q, k = (self._emit("rotary", [self._linear(normal, linear), rotation]) for linear in (block.q, block.k))
        v = self._linear(normal, block.v)
        mixed = self._attention(block, (q, k, v), past, length)
        x = self._sum(x, self._linear(mixed, block.o), block.sum1)
        normal = self._norm(x, block.norm2)
        gate, up = (self._linear(normal, linear) for linear in (block.gate, block.up))
        both = self._gate(gate, up, block.silu, block.product)
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
        return self._emit("past_mean", [mix, v], {**heads, "key_count": self._capacity + 1})


def _requant(scale: Scale, bound: int) -> tuple[Requant, list[np.ndarray]]:
    """The rule and its tensors; narrow where no accumulator up to `bound` leaves 32 bits."""
    wide = not narrow_enough(bound, scale.mul, scale.add)
    rule = Requant("pulp", scale.shift, 0, -128, 127, wide=wide)
    return rule, [scale.mul.astype(np.int32), scale.add.astype(np.int32)]
