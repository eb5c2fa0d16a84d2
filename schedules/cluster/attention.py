"""Attention of all heads in one kernel; heads are split into tiles where L1 is small."""

import numpy as np

from schedules.byte_tables import logit_range
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Tensor, TileAxis, schedule
from schedules.kernel_cycles import Work, family_of, given, share, words, work
from schedules.packed_weights import padded
from tvm_pulp.qnn.attention import AttentionAttributes, dimensions, operands
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.softmax_i_tables import (
    expected_keys,
    exponentials,
    least_to_skip,
    logit_table,
    small_exponential_table,
)
from tvm_pulp.uma.recipe import Pointer

_QUERIES_TOGETHER = 16
# So many queries of heads of four elements run one by one, with no room for values.
_FEW_QUERIES = 2
# The longest table over all products, in bytes.
_LARGEST_TABLE = 4096


def applies(layer: Layer) -> bool:
    """Heads of whole words, narrow requantization, exponentials that fit."""
    q, k = layer.inputs[0].spec, layer.inputs[1].spec
    _, _, keys, size = dimensions(AttentionAttributes.of(layer), q, k)
    rules = [Requant.of(layer.attributes), Requant.of(layer.attributes, "logit")]
    table = exponentials(AttentionAttributes.of(layer))
    fits = (
        table.min() >= 1
        and table[255] == table.max()
        and int(table.max()) * keys < 1 << 31
        and AttentionAttributes.of(layer).levels <= 256
    )
    return bool(size % 4 == 0 and fits and all(r.kind == "pulp" and not r.wide for r in rules))


@schedule("attention", applies)
class AttentionKernel(KernelForm):
    def axes(self) -> tuple[TileAxis, ...]:
        heads_first = AttentionAttributes.of(self.layer).y_layout == "hsd"
        return (TileAxis(1 if heads_first else 2), TileAxis(2 if heads_first else 1))

    def part(self, name: str, tensor: Tensor, heads: tuple[int, int], positions: tuple[int, int]) -> Box:
        """Heads and positions (start, size) of an operand in its layout."""
        size = tensor.spec.shape[3]
        pair = (
            (heads, positions) if AttentionAttributes.of(self.layer)[f"{name}_layout"] == "hsd" else (positions, heads)
        )
        return Box((0, pair[0][0], pair[1][0], 0), (1, pair[0][1], pair[1][1], size))

    def strides(self, name: str, heads: int, positions: int, size: int) -> dict[str, int]:
        heads_first = AttentionAttributes.of(self.layer)[f"{name}_layout"] == "hsd"
        head, position = (positions * size, size) if heads_first else (size, heads * size)
        return {f"{name}_head_stride": head, f"{name}_stride": position}

    def keys(
        self, call: Arguments, name: str, tensor: Tensor, heads: tuple[int, int], every: tuple[int, int]
    ) -> Pointer:
        """Keys or values of some heads: where they lie, if a cache in L1 has a row per position, else a copy."""
        bring = call.load if AttentionAttributes.of(self.layer)[f"{name}_layout"] == "hsd" else call.in_place
        return bring(name, tensor, self.part(name, tensor, heads, every))

    def heads_apart(self, tensor: Tensor, heads: int) -> int:
        """Heads in a row of keys or values."""
        return tensor.spec.shape[2] if tensor.storage.level == "l1" else heads

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, of = AttentionAttributes.of(self.layer), operands(AttentionAttributes.of(self.layer), self.layer.inputs)
        _, _, keys, size = dimensions(a, of["q"].spec, of["k"].spec)
        first = 1 if a.y_layout == "hsd" else 2
        heads, queries = (box.start[first], box.size[first]), (box.start[3 - first], box.size[3 - first])
        fields: Fields = {"q": call.load("q", of["q"], self.part("q", of["q"], heads, queries))}
        fields |= {name: self.keys(call, name, of[name], heads, (0, keys)) for name in "kv"}
        fields |= mask_fields(call, of.get("mask"), queries)
        fields["probability"] = call.load_whole("probability", of["probability"]) if "probability" in of else 0
        tables = self.tables(call, of, queries, keys)
        return fields | self.room(call, heads[1], queries[1], has_small=tables["small_exponential"] != 0) | {
            "heads": heads[1], "queries": queries[1], "keys": keys, "size": size,
            **self.strides("q", heads[1], queries[1], size),
            **self.strides("k", self.heads_apart(of["k"], heads[1]), keys, size),
            **self.strides("v", self.heads_apart(of["v"], heads[1]), keys, size),
            **self.strides("y", heads[1], queries[1], size),
            **call.requant_member("logit_requant", Requant.of(a, "logit"), [of["logit_mul"], of["logit_add"]]),
            **call.requant_member("requant", Requant.of(a), [of["mul"], of["add"]]), **tables,
        }  # fmt: skip

    def room(self, call: Arguments, heads: int, queries: int, *, has_small: bool) -> Fields:
        """The scratch area: for this many queries at a time, the more, the fewer times keys and values are read."""
        of = operands(AttentionAttributes.of(self.layer), self.layer.inputs)
        _, _, keys, size = dimensions(AttentionAttributes.of(self.layer), of["q"].spec, of["k"].spec)
        if family_of(self.costs.soc.software.kernels).one_query:
            return call.scratch(2 * padded(keys))
        needed = (5 * min(_QUERIES_TOGETHER, queries) + size) * padded(keys) + 32
        # Heads of four elements: three queries or more have code that begins with its scratch area on every core.
        if heads * queries >= self.cores or (has_small and queries > _FEW_QUERIES):
            return call.scratch(needed)
        # A part this small exists where L1 is: no byte more than its code asks for.
        return call.scratch(20 + 3 * padded(keys) if has_small else needed, heads * queries)

    def tables(self, call: Arguments, of: dict[str, Tensor], queries: tuple[int, int], keys: int) -> Fields:
        """Tables of the softmax; those of the kernel's fastest path where it applies."""
        _, every, _, size = dimensions(AttentionAttributes.of(self.layer), of["q"].spec, of["k"].spec)
        layer, rule = self.layer, Requant.of(self.layer.attributes, "logit")
        large = exponentials(AttentionAttributes.of(layer))
        small = (
            small_exponential_table(large, AttentionAttributes.of(layer).levels, keys)
            if size == 4 and keys >= 4
            else None
        )
        exponential = large.astype(np.uint32) if small is None else small
        constant = self.constant("exponential", exponential)
        field = "exponential" if small is None else "small_exponential"
        tables: Fields = dict.fromkeys(("table", "exponential", "small_exponential", "table_covers", "skips_from"), 0)
        tables[field] = call.load_whole("exponential", constant)
        table = of["logit_table"].data if "logit_table" in of else None
        if table is None and small is None:
            return tables
        low, high = rule.low, rule.high
        mul, add = of["logit_mul"].data, of["logit_add"].data
        if small is not None and mul is not None and add is not None:
            wide = logit_range(size, int(mul.reshape(-1)[0]), int(add.reshape(-1)[0]), rule.shift)
            if wide[1] - wide[0] < _LARGEST_TABLE:
                low, high = wide
                tables |= {"table_covers": 1, "logit_requant.low": low, "logit_requant.high": high}
        values = logit_table(table, low, high)
        if small is not None:
            skips_from = least_to_skip(values, small, of["probability"].data if "probability" in of else None)
            tables["skips_from"] = skips_from
            if "mask" in of:
                call.expected = {"keys": expected_keys(keys, every, queries, skips_from, values)}
        constant = self.constant(f"logits_{low}_{high}", values)
        return {**tables, "table": call.load_whole("table", constant)}


def mask_fields(call: Arguments, tensor: Tensor | None, queries: tuple[int, int]) -> Fields:
    """A mask has one row for all queries, or a row each."""
    if tensor is None:
        return {"mask": 0, "mask_stride": 0}
    box, keys = Box.whole(tensor.spec.shape), tensor.spec.shape[-1]
    has_rows = len(box.size) > 1 and box.size[-2] > 1
    if has_rows:
        box = Box((*box.start[:-2], queries[0], 0), (*box.size[:-2], queries[1], keys))
    return {"mask": call.load("mask", tensor, box), "mask_stride": keys if has_rows else 0}


@work("attention")
def attention_work(f: Fields, cores: int) -> Work:
    heads, queries, keys, size = (f[n] for n in ("heads", "queries", "keys", "size"))
    mine = share(heads * queries, cores)
    logits, batch = mine * 4 * words(keys), _queries_together(f)
    if not given(f["small_exponential"]):
        packed = max(1, -(-mine // queries)) * words(keys) * size
        batches = -(-mine // min(batch, queries))
        work: Work = {"call": 1, "query": mine, "batch": batches, "logit": logits, "word": logits * words(size)}
        return {f"large_{name}": count for name, count in work.items()} | {"large_value_word": packed}
    work = {"call": 1, "query": mine, "logit": logits}
    if not f["table_covers"]:
        work["clip"] = logits
    if given(f["mask"]):
        work["mask"] = logits
    if keys % 4:
        work["rest"] = mine
    if queries < 3:
        # Code of its own: nothing is shared among queries.
        return {f"few_{name}": count for name, count in work.items()}
    work["batch"] = -(-mine // min(batch, queries))
    work["value_word"] = max(1, -(-mine // queries)) * words(keys) * size
    return work


def _queries_together(f: Fields) -> int:
    """Queries that the scratch area has room for."""
    room = f["scratch_stride"] // (4 * words(f["keys"]))
    return int(max(1, min(16, (room - f["size"]) // (3 if given(f["small_exponential"]) else 5))))
