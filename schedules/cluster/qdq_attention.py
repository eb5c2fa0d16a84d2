"""Attention of quantize/dequantize graphs in one kernel; queries are split into tiles where L1 is small.

Over a cache, new rows are put behind those of the past that count.
"""

import math

from schedules.byte_tables import by_stored_byte
from schedules.cluster.arithmetic import typed
from schedules.cluster.attention import mask_fields
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Tensor, TileAxis, schedule
from schedules.kernel_cycles import Work, given, share, words, work
from schedules.packed_weights import padded
from tvm_pulp.planning.tiling.forms.attention_operands import is_shared, operand_part, query_axis
from tvm_pulp.qnn.qdq_attention import PastQdqAttentionAttributes, QdqAttentionAttributes, operands
from tvm_pulp.uma.recipe import Load, Pointer


def applies(layer: Layer) -> bool:
    """Heads of whole words, four keys or more."""
    return bool(QdqAttentionAttributes.of(layer).size % 4 == 0 and QdqAttentionAttributes.of(layer).key_count >= 4)


@schedule("qdq_attention", applies)
class QdqAttentionKernel(KernelForm):
    @property
    def named(self) -> dict[str, Tensor]:
        return operands(QdqAttentionAttributes.of(self.layer), self.layer.inputs)

    def axes(self) -> tuple[TileAxis, ...]:
        """Queries, where those of q are an axis of its tensor."""
        axis = query_axis(self.layer)
        return () if axis is None else (TileAxis(axis),)

    def operand(
        self, call: Arguments, name: str, tensor: Tensor, positions: tuple[int, int], packed: bool = False
    ) -> Fields:
        """Pointer and strides of q, k or v: no more of the tensor is loaded than positions and columns ask for.

        `packed`: operands that lie in one tensor share all of it, which can then stay in L1.
        """
        whole = packed and is_shared(self.layer, tensor)
        part = operand_part(self.layer, name, tensor, positions, whole)
        loaded = (step.local for step in call.steps if isinstance(step, Load) and step.tensor is tensor)
        local = (next(loaded, None) if whole else None) or call.load(name, tensor, part.box).operand
        strides = {f"{name}_head_stride": part.head_stride, f"{name}_stride": part.stride}
        return {name: Pointer(local, part.offset), **strides, **self.types(call, name, tensor)}

    def types(self, call: Arguments, name: str, tensor: Tensor) -> Fields:
        """Type, zero point and table of what q, k or v is."""
        place, zero = f"{name}_table", f"zero_point_{name}"
        table = self.named.get(place)
        types: Fields = {f"{name}_type": typed(table or tensor), zero: QdqAttentionAttributes.of(self.layer)[zero]}
        if table is not None:
            types[place] = call.load_constant(place, by_stored_byte(table.values, tensor.spec.dtype))
        return types if name == "v" else {place: 0, **types}

    def mask(self, call: Arguments, tensor: Tensor | None, queries: tuple[int, int]) -> Fields:
        heads, rows, keys = (1, 1, 0) if tensor is None else tensor.spec.shape
        of_head = (queries[1] if rows > 1 else 1) * keys
        return {**mask_fields(call, tensor, queries), "mask_head_stride": of_head if heads > 1 else 0}

    def rest(self, call: Arguments, of: dict[str, Tensor], queries: tuple[int, int]) -> Fields:
        """All fields but those of q, k, v and the mask."""
        a = QdqAttentionAttributes.of(self.layer)
        size, heads, by_head = a.size, a.heads, a.y_layout == "hsd"
        translated = size * (a.has_q_table + a.key_count * a.has_k_table)
        names = ("logit_low", "logit_high", "probability_high", "low", "high", "zero_point", "size", "group")
        return {
            **call.scratch((size + 9) * padded(a.key_count) + translated),
            "table": call.load_whole("table", of["table"]),
            "exponential": call.load_whole("exponential", of["exponential"]),
            "reals": call.load_reals("reals", "logit_scale", "gain", "value_scale"),
            "heads": heads, "queries": queries[1], "keys": a.key_count,
            "y_head_stride": queries[1] * size if by_head else size, "y_stride": size if by_head else heads * size,
            **{n: a[n] for n in names},
        }  # fmt: skip

    def queries(self, box: Box) -> tuple[int, int]:
        """First and number of the queries of a part."""
        at = 2 if QdqAttentionAttributes.of(self.layer).y_layout == "hsd" else 1
        return box.start[at], box.size[at]

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, of, queries = QdqAttentionAttributes.of(self.layer), self.named, self.queries(box)
        fields: Fields = {}
        for name, positions in (("q", queries), ("k", (0, a.key_count)), ("v", (0, a.key_count))):
            fields |= self.operand(call, name, of[name], positions, queries == (0, a.queries))
        return fields | self.mask(call, of.get("mask"), queries) | self.rest(call, of, queries)


@work("qdq_attention")
def qdq_attention_work(f: Fields, cores: int) -> Work:
    """Values are transposed once for every head that a core has rows of."""
    heads, queries, keys, size = (f[n] for n in ("heads", "queries", "keys", "size"))
    elements = size
    if cores % heads == 0:
        mine, touched = share(queries, cores // heads), 1
        # Of one query the cores of a head share the elements of the values.
        elements = 4 * share(words(size), cores // heads) if queries == 1 else size
    else:
        mine = share(heads * queries, cores)
        touched = max(1, -(-mine // queries)) + (1 if queries > 1 and mine % queries else 0)
    fours, logits = words(keys), mine * words(keys)
    work: Work = {
        "call": 1,
        "row": mine,
        "key": mine * keys,
        "dot": logits * words(size),
        "result": mine * words(elements),
    }
    work |= {"value_word": touched * fours * words(elements), "product": mine * words(elements) * fours, "four": logits}
    if f["zero_point_q"] != (128 if f["q_type"] == 1 else 0):
        work["correction"] = touched * fours
        work["correction_word"] = touched * fours * words(size)
    translated = mine * size * given(f["q_table"]) + touched * keys * size * given(f["k_table"])
    return work | ({"translated": translated} if translated else {})


def applies_past(layer: Layer) -> bool:
    """Heads of whole words, new rows that lie side by side as those of the past do."""
    a = PastQdqAttentionAttributes.of(layer)
    width = a.heads // a.group * a.size
    together = all(
        a[f"{n}_offset"] == 0
        and (a.heads == a.group or a[f"{n}_head_stride"] == a.size)
        and (a.rows == 1 or a[f"{n}_stride"] == width)
        and layer.inputs[place].spec.elements == a.rows * width
        for place, n in ((1, "k"), (2, "v"))
    )
    return bool(a.size % 4 == 0 and a.key_count >= 4 and together)


@schedule("past_qdq_attention", applies_past)
class PastQdqAttentionKernel(QdqAttentionKernel):
    result = "whole.y"

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, of, queries = PastQdqAttentionAttributes.of(self.layer), self.named, self.queries(box)
        whole = self.operand(call, "q", of["q"], queries)
        for name in ("k", "v"):
            whole |= self._past(call, name, of, a.rows * a.heads // a.group * a.size)
        whole |= self.mask(call, of.get("mask"), queries) | self.rest(call, of, queries)
        # Plans are made for a cache that is half full.
        call.expected = {"keys": a.key_count // 2}
        new = {f"new_{n}": call.load_whole(f"new_{n}", of[n]) for n in ("k", "v")}
        length = {"length": call.load_whole("length", of["length"]), "rows": a.rows}
        return {**{f"whole.{name}": value for name, value in whole.items()}, **new, **length}

    def _past(self, call: Arguments, name: str, of: dict[str, Tensor], room: int) -> Fields:
        """Pointer and strides of past keys or values, with room for the new ones."""
        past = of[f"past_{name}"]
        return {
            name: call.in_place(f"past_{name}", past, Box.whole(past.spec.shape), room),
            f"{name}_head_stride": PastQdqAttentionAttributes.of(self.layer).size,
            f"{name}_stride": math.prod(past.spec.shape[2:]),
            **self.types(call, name, past),
        }


@work("past_qdq_attention")
def past_qdq_attention_work(f: Fields, cores: int) -> Work:
    """A call does not tell how many keys there are: plans state `keys` as they expect it."""
    whole = {name.removeprefix("whole."): value for name, value in f.items()}
    if "keys" not in f:
        whole["keys"] = int(f["length"][0]) + f["rows"]
    row = whole["heads"] // whole["group"] * whole["size"]
    return qdq_attention_work(whole, cores) | {"appended": f["rows"] * words(row)}
