"""Calls of the attention and rotary-embedding kernels with the result that the dialect's operators give in sequence."""

from typing import Any

import numpy as np

from schedules.byte_tables import by_stored_byte, logit_range
from tests.kernels.call import Call, Out, Scratch
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes
from tests.kernels.random_requant import Rule, random_rule
from tests.kernels.row_cases import random_exponential
from tvm_pulp.qnn import softmax_table
from tvm_pulp.qnn.matmul import Matmul
from tvm_pulp.qnn.qdq_attention import QdqAttention
from tvm_pulp.qnn.qdq_rope import QdqRope
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.softmax import Softmax
from tvm_pulp.qnn.softmax_i import ISoftmaxAttributes, PolynomialAttributes
from tvm_pulp.qnn.softmax_i_tables import exponentials, least_to_skip, logit_table, small_exponential_table

LARGEST_TABLE = 4096
PLAIN_PRODUCT = {"transpose_b": True, "zero_point_a": 0, "zero_point_b": 0, "requant": "none"}


def logit_rule(rng: np.random.Generator, size: int, kind: str) -> Rule:
    """A requantization to the full range of int8."""
    rule = random_rule(rng, kind, size * 128 * 128, 1)
    full = Requant(rule.requant.kind, rule.requant.shift, rule.requant.zero_point % 7, -128, 127, rule.requant.wide)
    return Rule(full, rule.operands)


def reference(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, table: np.ndarray | None,
    logit: Rule, exponential: dict[str, Any], probability: np.ndarray | None, rule: Rule,
) -> np.ndarray:  # fmt: skip
    """q [heads, queries, size], k and v [heads, keys, size]."""
    logits = logit.apply(Matmul().reference(Matmul().stated(PLAIN_PRODUCT), [q, k])).astype(np.int64)
    if table is not None:
        logits = table[logits + 128].astype(np.int64)
    if mask is not None:
        logits = np.clip(logits + mask, -128, 127)
    weights = Softmax().reference(Softmax().stated({"form": "i_softmax", **exponential}), [logits.astype(np.int8)])
    if probability is not None:
        weights = probability[weights]
    return rule.apply(Matmul().reference(Matmul().stated({**PLAIN_PRODUCT, "transpose_b": False}), [weights, v]))


def softmax_tables(
    table: np.ndarray | None,
    logit: Rule,
    exponential: dict[str, Any],
    probability: np.ndarray | None,
    keys: int,
    size: int,
    small: bool,
    covered: bool,
) -> dict[str, Any]:
    """Tables of the kernel and the requantization before them."""
    large = exponentials(PolynomialAttributes.from_values(exponential)).astype(np.uint32)
    narrow = logit.requant.kind == "pulp" and not logit.requant.wide
    small = small and narrow and size == 4 and keys >= 4
    halves = small_exponential_table(large, exponential["levels"], keys) if small else None
    requant, covers = logit.fields, False
    if covered and narrow:
        mul, add = (int(o[0]) for o in logit.operands)
        low, high = logit_range(size, mul, add, logit.requant.shift)
        covers = high - low < LARGEST_TABLE
        requant = {**requant, "low": low, "high": high} if covers else requant
    bytes_of = logit_table(table, requant["low"], requant["high"])
    return {
        "table": None if table is None and not small and not covers else bytes_of,
        "table_covers": int(covers),
        "exponential": large if halves is None else None,
        "small_exponential": halves,
        "skips_from": 256 if halves is None else least_to_skip(bytes_of, halves, probability),
        "logit_requant": requant,
    }


def attention_case(
    rng: np.random.Generator,
    heads: int,
    queries: int,
    keys: int,
    size: int,
    *,
    kinds: tuple[str, str] = ("pulp", "pulp"),
    with_mask: bool = True,
    with_table: bool = True,
    with_probability: bool = False,
    lifting_mask: bool = False,
    causal_mask: bool = False,
    heads_outer: bool = False,
    batch: int = 16,
    misalign: int = 0,
    small: bool = True,
    covered: bool = True,
) -> Case:
    """`heads_outer`: k and v are [heads, keys, size] as in a cache, else [keys, heads, size]; `batch`: queries that the
    scratch area has room for; `small`: 16-bit exponentials where they fit; `covered`: a table over all products where
    it stays short."""
    q, k, v = (random_bytes(rng, (n, heads, size), "int8") for n in (queries, keys, keys))
    mask = np.where(rng.random((queries, keys)) < 0.5, 0, -rng.integers(0, 129, (queries, keys))).astype(np.int8)
    if causal_mask:
        mask = np.where(np.arange(keys) > np.arange(queries)[:, None] + rng.integers(0, keys), -128, 0).astype(np.int8)
    if lifting_mask:
        mask = random_bytes(rng, (queries, keys), "int8")
    table = np.sort(random_bytes(rng, (256,), "int8"))
    probability = np.sort(random_bytes(rng, (256,), "int8"))
    if causal_mask and rng.random() < 0.8:
        probability[0] = 0
    logit, rule = logit_rule(rng, size, kinds[0]), random_rule(rng, kinds[1], 255 * 128, 1)
    exponential = random_exponential(rng, short=causal_mask)
    expected = reference(
        q.transpose(1, 0, 2), k.transpose(1, 0, 2), v.transpose(1, 0, 2), mask if with_mask else None,
        table if with_table else None, logit, exponential, probability if with_probability else None, rule,
    )  # fmt: skip
    padded = -(-keys // 4) * 4
    room = (5 * batch + size) * padded + 4
    stored = [np.ascontiguousarray(x.transpose(1, 0, 2)) if heads_outer else x for x in (k, v)]
    strides = (keys * size, size) if heads_outer else (size, heads * size)
    inner = dict(zip(("head_stride", "stride"), strides, strict=True))
    fields: dict[str, Any] = {
        "q": q,
        "k": stored[0],
        "v": stored[1],
        "mask": mask if with_mask else None,
        "probability": probability if with_probability else None,
        "y": Out((queries, heads, size), rule.requant.out_dtype),
        "scratch": Scratch(room),
        "scratch_stride": room,
        "heads": heads,
        "queries": queries,
        "keys": keys,
        "size": size,
        "q_head_stride": size,
        "q_stride": heads * size,
        "y_head_stride": size * rule.bytes,
        "y_stride": heads * size * rule.bytes,
        "mask_stride": keys,
        "levels": 256,
        "requant": rule.fields,
    }
    fields |= softmax_tables(
        table if with_table else None, logit, exponential, probability if with_probability else None, keys, size,
        small, covered,
    )  # fmt: skip
    fields |= {f"{side}_{name}": value for side in "kv" for name, value in inner.items()}
    moved = {"q": misalign, "k": misalign, "v": misalign}
    return Case(Call("attention", fields, misalign=moved), expected.transpose(1, 0, 2), heads * queries * keys)


def rope_case(
    rng: np.random.Generator, positions: int, heads: int, size: int, kind: str = "pulp", *, misalign: int = 0
) -> Case:
    x = random_bytes(rng, (positions, heads, size), "int8")
    rotation = rng.integers(-127, 128, (positions, size, size)).astype(np.int8)
    rule = random_rule(rng, kind, size * 128 * 128, 1)
    product = Matmul().reference(Matmul().stated({**PLAIN_PRODUCT, "transpose_b": False}), [x, rotation])
    fields = {
        "x": x,
        "rotation": rotation,
        "y": Out(x.shape, rule.requant.out_dtype),
        "positions": positions,
        "heads": heads,
        "size": size,
        "requant": rule.fields,
    }
    return Case(Call("rope", fields, misalign={"x": misalign}), rule.apply(product), x.size)


def qdq_attention_case(
    rng: np.random.Generator, heads: int, queries: int, keys: int, size: int, *, group: int = 1, types: str = "sss",
    classes: int = 1, by_head: bool = False, zero: bool = True, tables: str = "",
) -> Case:  # fmt: skip
    """`types`: s or u for q, k and v; `heads` is a multiple of `group`; `tables`: which of q and k have one."""
    fields: dict[str, Any] = {"heads": heads, "queries": queries, "keys": keys, "size": size, "group": group}
    sizes = {"heads": heads, "queries": queries, "key_count": keys, "size": size, "group": group}
    attributes: dict[str, Any] = dict(sizes)
    operands = []
    for name, positions, kind in zip("qkv", (queries, keys, keys), types, strict=True):
        count, dtype = heads if name == "q" else heads // group, "int8" if kind == "s" else "uint8"
        strides = (positions * size, size) if by_head else (size, count * size)
        data = random_bytes(rng, (positions * count * size,), dtype)
        zero_point = (int(rng.integers(-20, 20)) if zero else 0) + (0 if kind == "s" else 128)
        operands.append(data)
        shared = {f"{name}_head_stride": strides[0], f"{name}_stride": strides[1], f"zero_point_{name}": zero_point}
        fields |= {name: data, f"{name}_type": TYPE_CODES[dtype], **shared}
        attributes |= {f"{name}_offset": 0, **shared}
    mask = rng.integers(0, classes, (heads, queries, keys)).astype(np.uint8)
    table = rng.integers(0, 256, (classes, 256)).astype(np.uint8)
    exponential = softmax_table.exponentials(float(rng.uniform(0.002, 0.2)), 20)
    scale = np.float32(40 / (73 * 73 * np.sqrt(size)))
    limits = {"logit_low": -120, "logit_high": 135, "probability_high": 255, "low": -133, "high": 122, "zero_point": 5}
    reals = np.array([scale, 255.0, 0.01], np.float32)
    attributes |= {**limits, "logit_scale": float(reals[0]), "gain": 255.0, "value_scale": float(reals[2])}
    attributes |= {"dtype": "int8", "y_layout": "shd", "has_mask": int(classes > 1)}
    bytes_of = {n: random_bytes(rng, (256,), str(fields[n].dtype)) for n in tables}
    attributes |= {f"has_{n}_table": int(n in tables) for n in "qk"}
    stored = {n: by_stored_byte(t, str(fields[n].dtype)) for n, t in bytes_of.items()}
    fields |= {f"{n}_table": stored.get(n) for n in "qk"}
    constants = [*bytes_of.values(), *([mask] if classes > 1 else []), table, exponential]
    expected = QdqAttention().reference(QdqAttention().stated(attributes), [*operands, *constants])
    room = (size + 9) * ((keys + 3) // 4 * 4) + ("q" in tables) * size + ("k" in tables) * size * keys + 3 & ~3
    fields |= {
        **limits, "mask": mask if classes > 1 else None, "table": table, "exponential": exponential, "reals": reals,
        "y": Out(expected.shape, "int8"), "scratch": Scratch(room | 4), "scratch_stride": room | 4,
        "y_head_stride": size, "y_stride": heads * size, "mask_head_stride": queries * keys, "mask_stride": keys,
    }  # fmt: skip
    return Case(Call("qdq_attention", fields), expected, 2 * heads * queries * keys * size)


def past_qdq_attention_case(
    rng: np.random.Generator, kv_heads: int, group: int, rows: tuple[int, int, int], size: int, **forms: Any
) -> Case:
    """`rows`: those of the past that count, all of the past, new ones. `forms` as of `qdq_attention_case`."""
    length, past, new = rows
    keys, width = length + new, kv_heads * size
    # Attention over the rows that count and the new ones; then those are put apart.
    plain = qdq_attention_case(rng, kv_heads * group, new, keys, size, group=group, **forms)
    whole, more = dict(plain.call.arguments), past - length
    apart: dict[str, Any] = {}
    for name in "kv":
        joined = whole[name].reshape(keys, width)
        apart[f"new_{name}"] = joined[length:].copy()
        held = random_bytes(rng, (past + new, width), str(joined.dtype))
        held[:length] = joined[:length]
        whole[name] = held
    if whole["mask"] is not None:
        mask = whole["mask"]
        whole["mask"] = np.concatenate((np.repeat(mask[..., :1], more, -1), mask), -1)
    room = (size + 9) * ((past + new + 3) // 4 * 4) + (forms.get("tables", "") != "") * size * (past + new + 1) + 3 & ~3
    whole |= {
        "keys": past + new, "scratch": Scratch(room | 4), "scratch_stride": room | 4,
        "mask_head_stride": new * (past + new), "mask_stride": past + new,
    }  # fmt: skip
    fields = {"whole": whole, "length": np.array([length], np.int32), **apart, "rows": new}
    return Case(Call("past_qdq_attention", fields), plain.expected, plain.work)


def qdq_rope_case(
    rng: np.random.Generator, outer: int, inner: int, size: int, *, dtype: str = "int8", axis: int = 1
) -> Case:
    """Positions along the outer (1) or the inner (2) axis."""
    positions = outer if axis == 1 else inner
    x = random_bytes(rng, (1, outer, inner, size), dtype)
    angles = [random_bytes(rng, (positions, size), dtype) for _ in range(2)]
    tables = [random_bytes(rng, (256,), dtype) for _ in range(2)]
    zeros = {f"zero_point_{n}": int(rng.integers(-20, 140)) for n in ("x", "cosine", "partner", "sine")}
    limits = {"kept_low": -120, "kept_high": 135, "turned_low": -128, "turned_high": 127}
    limits |= {"low": -130, "high": 125, "zero_point": 2}
    reals = np.array([0.007, 1 / 128, *rng.uniform(0.4, 1, 2)], np.float32)
    names = ("kept_scale", "turned_scale", "kept_weight", "turned_weight")
    attributes = {**zeros, **limits, "dtype": "int8", "position_axis": axis}
    attributes |= {n: float(v) for n, v in zip(names, reals, strict=True)}
    expected = QdqRope().reference(QdqRope().stated(attributes), [x, *angles, *tables])
    kind = TYPE_CODES[dtype]
    fields: dict[str, Any] = {
        "x": x, "cosine": angles[0], "sine": angles[1], "reals": reals, "y": Out(x.shape, "int8"),
        "rows": outer * inner, "size": size, "rows_per_position": inner if axis == 1 else 1, "positions": positions,
        "x_type": kind, "cosine_type": kind, "sine_type": kind, "partner_type": kind, **zeros, **limits,
        **{n: by_stored_byte(t, dtype) for n, t in zip(("first", "second"), tables, strict=True)},
    }  # fmt: skip
    return Case(Call("qdq_rope", fields), expected, x.size)


def attention_weights_case(
    rng: np.random.Generator,
    rows: int,
    keys: int,
    *,
    with_mask: bool = False,
    with_table: bool = False,
    with_probability: bool = False,
    small: bool = True,
    batch: int = 8,
    heads: int = 1,
    step: int = 1,
    causal_mask: bool = False,
) -> Case:
    """`small`: 16-bit exponentials where they fit; `rows` of each head; `step` values become one logit, with these."""
    padded = -(-keys // 4) * 4
    x = random_bytes(rng, (heads * rows, padded), "uint8")
    table, probability = np.sort(random_bytes(rng, (256,), "int8")), random_bytes(rng, (256,), "int8")
    mask = np.where(rng.random((rows, keys)) < 0.5, 0, random_bytes(rng, (rows, keys), "int8")).astype(np.int8)
    attributes = {"form": "i_softmax", **random_exponential(rng, short=small and bool(rng.integers(2)))}
    large = exponentials(ISoftmaxAttributes.from_values(attributes)).astype(np.uint32)
    halves = small_exponential_table(large, attributes["levels"], keys) if small else None
    if causal_mask:
        mask = np.where(np.arange(keys) > np.arange(rows)[:, None] + rng.integers(keys), -128, 0).astype(np.int8)
    if halves is None or with_table:
        step = 1
    first = -128 if step == 1 else int(rng.integers(-(255 // step), 1))
    lift = int(step == 2 and rng.integers(2))
    if lift:
        first = -64
    logits = first + (x[:, :keys].astype(np.int64) + lift * (x[:, :keys] < 128)) // step
    if with_table:
        logits = table[logits + 128].astype(np.int64)
    if with_mask:
        logits = np.clip(logits + np.tile(mask, (heads, 1)), -128, 127)
    weights = Softmax().reference(Softmax().stated(attributes), [logits.astype(np.int8)])
    # An odd number of words: copies of a table begin in different banks.
    room = (4 if halves is None else 2) * batch * padded + 256 * with_probability | 4
    fields = {
        "x": x,
        "y": Out((heads * rows, padded), "uint8"),
        "mask": mask if with_mask else None,
        "table": logit_table(table, -128, 127) if with_table else None,
        "exponential": large if halves is None else None,
        "small_exponential": halves if halves is None else np.repeat(halves, step),
        "probability": probability if with_probability else None,
        "scratch": Scratch(room),
        "scratch_stride": room,
        "rows": heads * rows,
        "queries": rows,
        "keys": keys,
        "stride": padded,
        "mask_stride": keys,
        "levels": 256,
        "step": step,
        "lift": lift,
        "low": step * (-128 - first),
        "high": step * (128 - first) - 1,
    }
    expected = np.zeros((heads * rows, padded), np.uint8)
    expected[:, :keys] = probability[weights].view(np.uint8) if with_probability else weights
    return Case(Call("attention_weights", fields), expected, heads * rows * keys)
