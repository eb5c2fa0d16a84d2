"""Attention whose two products the array makes: keys and values become its weights.

Some heads at a time the array multiplies queries and keys, the cores make weights of the logits while it is at the next
heads, and the array multiplies them and the values. Logits leave the array plus 128, as the softmax wants them.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp.qnn.attention import AttentionAttributes, dimensions, operands
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.softmax_i_tables import (
    expected_keys,
    exponentials,
    least_to_skip,
    levels_of_a_logit,
    logit_table,
    small_exponential_table,
)
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Form, Kernel, Load, Local, Recipe, Step, Store, TileAxis, refuse_if
from uma_backends.neureka.activation_weights import (
    ActivationWeights,
    Product,
    Rows,
    refuse_other_heads,
    refuse_without_kernels,
)
from uma_backends.neureka.neureka_form import Context

_ADDED = 128
# Groups of heads at least, so that array and cores have something to do at the same time, and heads of one at most.
_GROUPS, _TOGETHER = 4, 4


def attention_strategy(layer: Layer, context: Context) -> list[Form]:
    """Integer attention of heads of whole words, requantized as the array does it."""
    a, of = AttentionAttributes.of(layer), operands(AttentionAttributes.of(layer), layer.inputs)
    _, _, keys, size = dimensions(a, of["q"].spec, of["k"].spec)
    refuse_other_heads(context, size, of)
    refuse_if(a.levels > 256 or a.levels % 2, f"its softmax has {a.levels} levels")
    table = exponentials(a)
    is_usual = table.min() >= 1 and table[255] == table.max() and int(table.max()) * keys < 1 << 31
    refuse_if(not is_usual, "the exponentials of its softmax do not fit 32 bits")
    largest = 255 if "probability" not in of else keys * int(np.abs(of["probability"].values.astype(np.int64)).max())
    products = (
        Product.of(Requant.of(a, "logit"), of["logit_mul"], of["logit_add"], size << 14, _ADDED),
        Product.of(Requant.of(a), of["mul"], of["add"], largest << 7),
    )
    form = AttentionForm(layer, context, "1x1 with keys and values as weights", products)
    refuse_without_kernels(form)
    return [form]


class AttentionForm(ActivationWeights):
    """Both products on the array, the softmax on the cores."""

    def axes(self) -> tuple[TileAxis, ...]:
        heads = 1 if AttentionAttributes.of(self.layer).y_layout == "hsd" else 2
        return (TileAxis(heads), TileAxis(3 - heads))

    def recipe(self, box: Box) -> Recipe:
        a, of = AttentionAttributes.of(self.layer), operands(AttentionAttributes.of(self.layer), self.layer.inputs)
        _, _, keys, size = dimensions(a, of["q"].spec, of["k"].spec)
        first = 1 if a.y_layout == "hsd" else 2
        heads, queries = (box.start[first], box.size[first]), (box.start[3 - first], box.size[3 - first])
        count = queries[1]
        (shape, extra), padded = self.picture(count, box), -(-keys // 4) * 4
        loads: list[Step] = []
        q = self._load("q", of["q"], heads, queries, loads, extra)
        k, v = (self._load(n, of[n], heads, (0, keys), loads) for n in "kv")
        strides = (count * size, size) if first == 1 else (size, heads[1] * size)
        output = self.layer.outputs[0]
        y = Rows.new("y", TensorSpec(box.size, output.spec.dtype), strides, extra, fill=False)
        vectors = [self.vectors(number, channels, loads) for number, channels in enumerate((keys, size))]
        softmax, tables = self._tables(of, queries, keys, loads)

        def weigh(chosen: range) -> tuple[Rows, Step, Rows]:
            rows = len(chosen) * count
            logits = Rows.new("logits", TensorSpec((rows, padded), "uint8"), (count * padded, padded), extra)
            operands = (logits.local, *tables)
            step = self.on_cores(Kernel("attention_weights", {**softmax, "rows": rows}, operands, (logits.local,)))
            # Weights take the place of logits.
            return logits, step, replace(logits, is_signed="probability" in of)

        together = max(1, min(_TOGETHER, heads[1] // _GROUPS))
        steps = self.attention((heads[1], keys, size), shape, (q, k, v, y), vectors, weigh, together)
        return Recipe((*loads, *steps, Store(y.local, output, box)), together=True)

    def _load(
        self,
        name: str,
        tensor: Tensor,
        heads: tuple[int, int],
        positions: tuple[int, int],
        loads: list[Step],
        extra: int = 0,
    ) -> Rows:
        size, heads_first = tensor.spec.shape[3], AttentionAttributes.of(self.layer)[f"{name}_layout"] == "hsd"
        pair = (heads, positions) if heads_first else (positions, heads)
        box = Box((0, pair[0][0], pair[1][0], 0), (1, pair[0][1], pair[1][1], size))
        strides = (positions[1] * size, size) if heads_first else (size, heads[1] * size)
        rows = Rows.new(name, TensorSpec(box.size, tensor.spec.dtype), strides, extra)
        loads.append(Load(tensor, box, rows.local))
        return rows

    def _tables(
        self, of: dict[str, Tensor], queries: tuple[int, int], keys: int, loads: list[Step]
    ) -> tuple[dict[str, Any], list[Local]]:
        """Attributes of the softmax and the operands behind its logits."""
        large = exponentials(AttentionAttributes.of(self.layer))
        small = small_exponential_table(large, AttentionAttributes.of(self.layer).levels, keys)
        found: dict[str, Local] = {}
        table = of["logit_table"].values.reshape(-1) if "logit_table" in of else None
        values, (step, lift, first) = logit_table(table, -128, 127), (1, 0, -128)
        steps = levels_of_a_logit(table) if table is not None and small is not None else None
        if steps is not None:
            step, lift, first = *steps, int(values[0]) - 128
        elif table is not None:
            found["table"] = self.constant("logits", values, loads)
        if small is None:
            found["exponential"] = self.constant("exponential", large.astype(np.uint32), loads)
        else:
            found["small_exponential"] = self.constant("small_exponential", np.repeat(small, step), loads)
        if "probability" in of:
            found["probability"] = self.constant("probability", of["probability"].values.reshape(-1), loads)
        mask_stride, expected = 0, keys
        if "mask" in of:
            if small is not None:
                probability = of["probability"].values if "probability" in of else None
                every = dimensions(AttentionAttributes.of(self.layer), of["q"].spec, of["k"].spec)[1]
                expected = expected_keys(keys, every, queries, least_to_skip(values, small, probability), values)
            shape = of["mask"].spec.shape
            box = Box.whole(shape)
            if len(shape) > 1 and shape[-2] > 1:
                lead = (0,) * (len(shape) - 2)
                box, mask_stride = Box((*lead, queries[0], 0), (*(1 for _ in lead), queries[1], keys)), keys
            found["mask"] = Local("mask", TensorSpec(box.size, "int8"))
            loads.append(Load(of["mask"], box, found["mask"]))
        levels = AttentionAttributes.of(self.layer).levels
        low = step * (-128 - first)
        attributes = {
            "queries": queries[1], "keys": keys, "expected_keys": expected, "mask_stride": mask_stride,
            "levels": levels, "step": step, "lift": lift, "low": low, "high": low + 256 * step - 1,
        }  # fmt: skip
        return {**attributes, "operands": tuple(found)}, list(found.values())
