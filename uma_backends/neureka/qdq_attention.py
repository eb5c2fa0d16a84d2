"""Attention of quantize/dequantize graphs whose two products the array makes, exact to the framework's rounding.

It delivers 32 bits, as sums or times a scale: rounding halves to even is left to the cores. They make weights of the
logits of some heads while the array is at the next ones, and finish what it makes of the weights and the values. What
the zero point of q adds to the logits of a key is the bias of its channel, which the cores sum up.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvm_pulp.planning.tiling.forms.attention_operands import is_shared, operand_part, query_axis
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.qdq_attention import QdqAttentionAttributes, operands
from tvm_pulp.qnn.real_rounding import RealRounding
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Form, Kernel, Load, Local, Recipe, Refused, Step, TileAxis, refuse_if
from uma_backends.conv_array.arithmetic.exact_rounding import ExactFold, fold_real
from uma_backends.conv_array.arithmetic.folded_rounding import Reach
from uma_backends.neureka.activation_weights import (
    CORRECTED,
    RAW,
    ActivationWeights,
    Product,
    Rest,
    Rows,
    refuse_other_heads,
    refuse_without_kernels,
)
from uma_backends.neureka.neureka_form import ACTIVATION_SLACK, Context

# Logits that the kernel's table tells apart.
_LEAST_LOGIT, _LOGITS = -256, 512
# Bytes that the logits of heads together may take.
_ROOM = 24 << 10


def qdq_attention_strategy(layer: Layer, context: Context) -> list[Form]:
    """Attention of heads of whole words."""
    a, of = QdqAttentionAttributes.of(layer), operands(QdqAttentionAttributes.of(layer), layer.inputs)
    refuse_other_heads(context, a.size, of)
    steps = [a[f"{n}_{step}"] for n in "qkv" for step in ("offset", "stride", "head_stride")]
    refuse_if(any(step % 4 for step in steps), "its heads do not begin with whole words")
    odd = "mask" in of and of["mask"].data is None and a.key_count % 4
    refuse_if(bool(odd), f"{a.key_count} keys with a mask that is no constant are no whole words")
    ends = {n: np.array(_typed(of, n).spec.range) - a[f"zero_point_{n}"] for n in "qkv"}
    logits = a.size * np.outer(ends["q"], ends["k"])
    # Weights are rounded parts of the gain.
    weights = min(a.key_count * a.probability_high, int(1.001 * a.gain + a.key_count))
    low, high = (a[n] + a.zero_point for n in ("low", "high"))
    rule = Requant("half_even", 0, a.zero_point, low, high, dtype=a.dtype)
    values = RealRounding(a.value_scale, np.arange(rule.low + 1, rule.high + 1), rule.zero_point)
    mixtures = _reach(weights * np.append(ends["v"], 0))
    fold, constants, mixed = fold_real(values, mixtures), values.as_half_even(mixtures.low, mixtures.high), RAW
    if fold is not None:
        mixed, rest = Product.scaled(fold), Rest.of(rule, fold)
    elif constants is not None:
        rest = Rest(rule, constants)
    else:
        raise Refused("its results depend on how single precision rounds products")
    scores, shifted = RAW, None
    if a.zero_point_q:
        scores = CORRECTED
    else:
        logit = RealRounding(a.logit_scale, np.arange(a.logit_low + 1, a.logit_high + 1))
        shifted = fold_real(logit, _reach(logits))
        scores = RAW if shifted is None else Product.scaled(shifted)
    form = QdqAttentionForm(layer, context, "1x1 with keys and values as weights", (scores, mixed), rest, shifted)
    refuse_without_kernels(form)
    return [form]


def _typed(of: dict[str, Tensor], name: str) -> Tensor:
    """The tensor that tells the values of q, k or v: the operand, or the table it goes through."""
    return of.get(f"{name}_table", of[name])


def _reach(ends: np.ndarray) -> Reach:
    return Reach(np.array([ends.min()]), np.array([ends.max()]))


@dataclass(frozen=True)
class QdqAttentionForm(ActivationWeights):
    """Both products on the array, tables, softmax and rounding on the cores."""

    rest: Rest
    # What the cores add to logits that the array scales, and their shift.
    shifted: ExactFold | None

    def axes(self) -> tuple[TileAxis, ...]:
        axis = query_axis(self.layer)
        return () if axis is None else (TileAxis(axis),)

    def recipe(self, box: Box) -> Recipe:
        a, of = (
            QdqAttentionAttributes.of(self.layer),
            operands(QdqAttentionAttributes.of(self.layer), self.layer.inputs),
        )
        heads, keys, size = a.heads, a.key_count, a.size
        by_head, shared = a.y_layout == "hsd", a.group
        queries = (box.start[2], box.size[2]) if by_head else (box.start[1], box.size[1])
        count, stride = queries[1], -(-keys // 4) * 4
        shape, extra = self.picture(count, box)
        loads: list[Step] = []
        before: list[Step] = []
        q, k, v = (self._operand(n, of, queries, extra, loads, before) for n in "qkv")
        strides = (count * size, size) if by_head else (size, heads * size)
        raw = Rows.new("raw", TensorSpec(box.size, "int32"), strides, extra, fill=False)
        vectors = [self.vectors(number, channels, loads) for number, channels in enumerate((keys, size))]
        if a.zero_point_q:
            vectors[0], add_up = self.corrected(vectors[0], k, (heads // shared, keys, size), a.zero_point_q)
            before.append(add_up)
        softmax, tables = self._tables(of, queries, stride, loads)

        def weigh(chosen: range) -> tuple[Rows, Step, Rows]:
            rows, apart = len(chosen) * count, (count * stride, stride)
            x = Local("logits", TensorSpec((rows, stride), "int32"), 4 * (ACTIVATION_SLACK + extra * stride))
            weights = Rows.new("weights", TensorSpec((rows, stride), "uint8"), apart, extra)
            how = {**softmax, "rows": rows, "mask_offset": chosen[0] * softmax["mask_head_stride"]}
            step = self.on_cores(Kernel("qdq_weights", how, (x, *tables), (weights.local,)))
            return Rows(x, 4 * apart[0], 4 * apart[1]), step, weights

        together = self._together(softmax, tables, count, stride)
        sizes, operands_of = (heads, keys, size), (q, k, v, raw)
        steps = [*before, *self.attention(sizes, shape, operands_of, vectors, weigh, together, shared)]
        steps += self.finish(self.rest, raw.local, box, loads)
        return Recipe((*loads, *steps), together=True)

    def _operand(
        self, name: str, of: dict[str, Tensor], queries: tuple[int, int], extra: int, loads: list[Step],
        before: list[Step],
    ) -> Rows:  # fmt: skip
        """q, k or v in L1, through its table; the array reads `extra` rows behind those of q."""
        a, tensor = QdqAttentionAttributes.of(self.layer), of[name]
        positions = queries if name == "q" else (0, a.key_count)
        whole = is_shared(self.layer, tensor) and queries == (0, a.queries)
        part = operand_part(self.layer, name, tensor, positions, whole)
        slack = ACTIVATION_SLACK + (extra * part.stride if name == "q" else 0)
        loaded = (s.local for s in loads if isinstance(s, Load) and s.tensor is tensor)
        local = next(loaded, None) if whole else None
        if local is None:
            local = Local(name, TensorSpec(part.box.size, tensor.spec.dtype), slack, fill=slack - ACTIVATION_SLACK)
            loads.append(Load(tensor, part.box, local))
        signed, zero_point = _typed(of, name).spec.dtype == "int8", a[f"zero_point_{name}"]
        rows = Rows(local, part.head_stride, part.stride, signed, part.offset, zero_point)
        if f"{name}_table" not in of:
            return rows
        heads = a.heads // (1 if name == "q" else a.group)
        side_by_side = heads == 1 or rows.matrix_stride == a.size
        refuse_if(not side_by_side and rows.stride != a.size, "its heads lie in an order that is not looked up")
        count, row, apart = positions[1], heads * a.size, rows.stride
        strides = (a.size, row)
        if not side_by_side:
            strides = (count * a.size, a.size)
            count, row, apart = heads, strides[0], rows.matrix_stride
        values = of[f"{name}_table"].values.reshape(-1).view(np.uint8)
        table = self.constant(f"{name}_table", np.roll(values, 128) if tensor.spec.dtype == "int8" else values, loads)
        spec = TensorSpec((count, row), _typed(of, name).spec.dtype)
        made = Rows.new(f"{name}_looked_up", spec, strides, extra)
        attributes = {"x_offset": part.offset, "rows": count, "row_bytes": row, "x_stride": apart, "y_stride": row}
        before.append(self.on_cores(Kernel("translated_rows", attributes, (local, table), (made.local,))))
        return replace(made, zero_point=zero_point)

    def _tables(
        self, of: dict[str, Tensor], queries: tuple[int, int], stride: int, loads: list[Step]
    ) -> tuple[dict[str, Any], list[Local]]:
        """Attributes of the softmax and the operands behind its logits."""
        a, fold = QdqAttentionAttributes.of(self.layer), self.shifted
        logits = np.arange(_LEAST_LOGIT, _LEAST_LOGIT + _LOGITS)
        table = of["table"].values[:, np.clip(logits, a.logit_low, a.logit_high) - a.logit_low]
        found = [
            self.constant("scores", np.ascontiguousarray(table), loads),
            self.constant("exponentials", np.ascontiguousarray(of["exponential"].values[::-1]), loads),
            self.constant("reals", np.array([a.logit_scale, a.gain], np.float32), loads),
        ]
        head_stride = mask_stride = 0
        if "mask" in of:
            mask, keys = of["mask"], a.key_count
            if stride > keys:
                # What fills up a row repeats its first key.
                values = np.concatenate((mask.values, np.repeat(mask.values[..., :1], stride - keys, -1)), -1)
                mask = self.derived.constant(f"{self.layer.name}_classes", values)
            heads, rows, _ = mask.spec.shape
            box = Box((0, queries[0] if rows > 1 else 0, 0), (heads, queries[1] if rows > 1 else 1, stride))
            loads.append(load := Load.of(mask, "mask", box))
            found.append(load.local)
            mask_stride = stride if rows > 1 else 0
            head_stride = box.size[1] * stride if heads > 1 else 0
        attributes = {
            "keys": a.key_count, "stride": stride, "queries": queries[1], "probability_high": a.probability_high,
            "mask_head_stride": head_stride, "mask_stride": mask_stride,
            "add": 0 if fold is None else int(fold.add[0]), "shift": 0 if fold is None else int(fold.shift[0]),
        }  # fmt: skip
        return attributes, found

    def _together(self, softmax: dict[str, Any], tables: list[Local], count: int, stride: int) -> int:
        """Heads whose weights are made at a time: where there are few queries, so many that all cores have work."""
        heads = QdqAttentionAttributes.of(self.layer).heads

        def cycles(number: int) -> int:
            rows = number * count
            x, y = (Local("", TensorSpec((rows, stride), dtype)) for dtype in ("int32", "uint8"))
            step = self.on_cores(Kernel("qdq_weights", {**softmax, "rows": rows, "mask_offset": 0}, (x, *tables), (y,)))
            return -(-heads // number) * step.cost.cycles

        fitting = [n for n in range(1, heads + 1) if n == 1 or 5 * n * count * stride <= _ROOM]
        return min(fitting, key=cycles)
