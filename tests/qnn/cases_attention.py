"""Random calls of attention: layouts, masks and tables in all combinations."""

from typing import Any

import numpy as np

from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, integers, pick, requant
from tvm_pulp.qnn import softmax_table
from tvm_pulp.qnn.past_attention import PastMix, PastScores, exponential_table
from tvm_pulp.qnn.rotary import rotation_table

ATTENTION_LIMITS: dict[str, Any] = {
    "logit_scale": float(np.float32(0.004)), "logit_low": -120, "logit_high": 135, "gain": 255.0,
    "probability_high": 255, "value_scale": float(np.float32(0.01)), "low": -133, "high": 122, "zero_point": 5,
    "dtype": "int8",
}  # fmt: skip


def attention(rng: Rng) -> Case:
    heads, queries, keys = int(rng.integers(1, 4)), int(pick(rng, (1, 1, 3, 6))), int(pick(rng, (1, 2, 7, 13)))
    size = int(pick(rng, (1, 3, 4, 8)))
    log2 = int(rng.integers(20, 60))
    attributes: dict[str, Any] = {"a": 1, "b": int(rng.integers(log2, 2 * log2)), "c": int(rng.integers(1, 4000))}
    attributes |= {"log2": log2, "levels": 256, "y_layout": str(pick(rng, ("hsd", "shd")))}
    data = []
    for name, positions in (("q", queries), ("k", keys), ("v", keys)):
        layout = str(pick(rng, ("hsd", "shd")))
        attributes[f"{name}_layout"] = layout
        pair = (heads, positions) if layout == "hsd" else (positions, heads)
        data.append(integers(rng, (1, *pair, size)))
    has_mask, has_table, has_probability = (int(rng.integers(2)) for _ in range(3))
    attributes |= {"has_mask": has_mask, "has_logit_table": has_table, "has_probability": has_probability}
    if has_mask:
        data.append(integers(rng, (keys,) if rng.random() < 0.5 else (1, queries, keys)))
    logit, logit_tensors = requant(rng, 128 * 128 * size, 1, "pulp")
    logit = type(logit)("pulp", logit.shift, 0, -128, 127, wide=logit.wide)
    rule, tensors = requant(rng, 255 * 128 * keys, 1, "pulp")
    data += logit_tensors
    data += [integers(rng, (256,)) for _ in range(has_table + has_probability)]
    return Case("attention", {**attributes, **logit.attributes("logit"), **rule.attributes()}, [*data, *tensors])


def qdq_attention(rng: Rng) -> Case:
    group = int(pick(rng, (1, 1, 2)))
    heads, queries, keys = group * int(rng.integers(1, 3)), int(pick(rng, (1, 3, 6))), int(pick(rng, (1, 2, 7, 13)))
    size = int(pick(rng, (1, 3, 4, 8)))
    attributes: dict[str, Any] = {"heads": heads, "queries": queries, "key_count": keys, "size": size, "group": group}
    data = []
    for name, positions in (("q", queries), ("k", keys), ("v", keys)):
        count, signed = heads if name == "q" else heads // group, bool(rng.integers(2))
        by_head, offset = bool(rng.integers(2)), int(rng.integers(0, 9))
        strides = (positions * size, size) if by_head else (size, count * size)
        attributes |= {f"{name}_head_stride": strides[0], f"{name}_stride": strides[1], f"{name}_offset": offset}
        attributes[f"zero_point_{name}"] = int(rng.integers(-9, 9)) + (0 if signed else 128)
        data.append(integers(rng, (1, offset + positions * count * size), "int8" if signed else "uint8"))
    for name in ("q", "k"):
        attributes[f"has_{name}_table"] = int(rng.integers(2))
        data += [integers(rng, (256,))] if attributes[f"has_{name}_table"] else []
    classes = int(pick(rng, (1, 1, 3)))
    attributes["has_mask"] = int(classes > 1)
    if classes > 1:
        shape = (int(pick(rng, (1, heads))), int(pick(rng, (1, queries))), keys)
        data.append(rng.integers(0, classes, shape).astype(np.uint8))
    data.append(rng.integers(0, 256, (classes, 256)).astype(np.uint8))
    data.append(softmax_table.exponentials(float(rng.uniform(0.001, 0.5)), 24))
    scale = 40 / (73 * 73 * np.sqrt(size))
    attributes |= {"logit_scale": float(np.float32(scale)), "logit_low": -120, "logit_high": 135, "gain": 255.0}
    attributes |= {"probability_high": int(pick(rng, (255, 127))), "value_scale": float(np.float32(0.01))}
    attributes |= {
        "low": -133,
        "high": 122,
        "zero_point": 5,
        "dtype": "int8",
        "y_layout": str(pick(rng, ("hsd", "shd"))),
    }
    return Case("qdq_attention", attributes, data)


def past_qdq_attention(rng: Rng) -> Case:
    group, rows, past = int(pick(rng, (1, 1, 2))), int(pick(rng, (1, 3, 6))), int(pick(rng, (1, 4, 9)))
    kv_heads, size = int(rng.integers(1, 3)), int(pick(rng, (1, 3, 4, 8)))
    heads, keys = kv_heads * group, past + rows
    attributes: dict[str, Any] = {"heads": heads, "queries": rows, "key_count": keys, "size": size, "group": group}
    attributes |= {"rows": rows, **ATTENTION_LIMITS, "y_layout": str(pick(rng, ("hsd", "shd")))}
    types = [str(pick(rng, ("int8", "uint8"))) for _ in range(3)]
    data = []
    for name, count, dtype in zip("qkv", (heads, kv_heads, kv_heads), types, strict=True):
        offset = int(rng.integers(0, 9))
        attributes |= {f"{name}_head_stride": size, f"{name}_stride": count * size, f"{name}_offset": offset}
        attributes[f"zero_point_{name}"] = int(rng.integers(-9, 9)) + (0 if dtype == "int8" else 128)
        data.append(integers(rng, (1, offset + rows * count * size), dtype))
    data += [integers(rng, (1, past, kv_heads, size), dtype) for dtype in types[1:]]
    data.append(np.array([rng.integers(0, past + 1)], np.int32))
    for name in ("q", "k"):
        attributes[f"has_{name}_table"] = int(rng.integers(2))
        data += [integers(rng, (256,))] if attributes[f"has_{name}_table"] else []
    classes = int(pick(rng, (1, 1, 3)))
    attributes["has_mask"] = int(classes > 1)
    if classes > 1:
        mask = rng.integers(0, classes, (int(pick(rng, (1, heads))), int(pick(rng, (1, rows))), keys)).astype(np.uint8)
        mask[..., :past] = 1
        data.append(mask)
    data.append(rng.integers(0, 256, (classes, 256)).astype(np.uint8))
    data.append(softmax_table.exponentials(float(rng.uniform(0.001, 0.5)), 24))
    return Case("past_qdq_attention", attributes, data)


def rotary(rng: Rng) -> Case:
    rows, heads, size = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(pick(rng, (2, 4, 6, 8)))
    start = int(rng.integers(0, 40))
    rotation = rotation_table(start + rows, size)[start:]
    return Case("rotary", {}, [integers(rng, (rows, heads * size)), rotation])


def past_attention(rng: Rng) -> Case:
    kv_heads, group, size = (int(pick(rng, choice)) for choice in ((1, 2, 3), (1, 2), (1, 4, 8)))
    rows, capacity = int(pick(rng, (1, 1, 3, 6))), int(pick(rng, (1, 5, 12)))
    length = np.array([rng.integers(0, capacity + 1)], np.int32)
    shapes = [(rows, kv_heads * group * size), *[(rows, kv_heads * size)] * 2, *[(capacity, kv_heads * size)] * 2]
    attributes = {"heads": kv_heads * group, "kv_heads": kv_heads, "mul": int(rng.integers(1, 200))}
    attributes["shift"] = int(rng.integers(1, 14))
    table = exponential_table(int(rng.integers(4, 64)))
    shapes[4] = stored_values(rng, *shapes[4])
    return Case("past_attention", attributes, [*(integers(rng, shape) for shape in shapes), length, table])


def stored_values(rng: Rng, capacity: int, columns: int) -> tuple[int, int]:
    """The shape of a cache of values, by position or with four positions of an element in a word."""
    return ((capacity + 3) // 4, 4 * columns) if rng.integers(2) else (capacity, columns)


def past_part(rng: Rng, part: str) -> Case:
    kv_heads, group, size = (int(pick(rng, choice)) for choice in ((1, 2, 3), (1, 2), (1, 4, 8)))
    heads, capacity = kv_heads * group, int(pick(rng, (1, 5, 12)))
    length = np.array([rng.integers(0, capacity + 1)], np.int32)
    attributes = {"heads": heads, "kv_heads": kv_heads, "mul": int(rng.integers(1, 200))}
    attributes["shift"] = int(rng.integers(1, 14))
    q, k, v = (integers(rng, (1, n * size)) for n in (heads, kv_heads, kv_heads))
    past_k = integers(rng, (capacity, kv_heads * size))
    past_v = integers(rng, stored_values(rng, capacity, kv_heads * size))
    if part == "past_scores":
        return Case(part, attributes, [q, past_k, length])
    scores = PastScores().reference(PastScores().stated(attributes), [q, past_k, length])
    operands = [q, k, scores, past_v, length, exponential_table(int(rng.integers(4, 64)))]
    if part == "past_mix":
        return Case(part, attributes, operands)
    mix = PastMix().reference(PastMix().stated(attributes), operands)
    return Case(part, {"heads": heads, "kv_heads": kv_heads, "key_count": capacity + 1}, [mix, v])


def past_scores(rng: Rng) -> Case:
    return past_part(rng, "past_scores")


def past_mix(rng: Rng) -> Case:
    return past_part(rng, "past_mix")


def value_groups(rng: Rng) -> Case:
    rows, columns, length = (int(rng.integers(1, 10)), int(rng.integers(1, 6)), int(rng.integers(0, 9)))
    shapes = ((rows, columns), (1, 4 * columns))
    return Case("value_groups", {}, [*(integers(rng, shape) for shape in shapes), np.array([length], np.int32)])


def past_mean(rng: Rng) -> Case:
    return past_part(rng, "past_mean")


def qdq_rope(rng: Rng) -> Case:
    outer, inner, size = int(rng.integers(1, 5)), int(rng.integers(1, 5)), 2 * int(pick(rng, (1, 3, 8)))
    axis, dtype = int(pick(rng, (1, 2))), str(pick(rng, ("int8", "uint8")))
    positions = outer if axis == 1 else inner
    data = [integers(rng, (1, outer, inner, size), dtype), *(integers(rng, (1, positions, size)) for _ in range(2))]
    data += [integers(rng, (256,)) for _ in range(2)]
    attributes: dict[str, Any] = {"position_axis": axis, "low": -130, "high": 125, "zero_point": 2, "dtype": "int8"}
    attributes |= {f"zero_point_{n}": int(rng.integers(-20, 20)) for n in ("x", "cosine", "partner", "sine")}
    for name in ("kept", "turned"):
        attributes |= {f"{name}_low": -120, f"{name}_high": 135, f"{name}_scale": float(np.float32(0.007))}
        attributes[f"{name}_weight"] = float(np.float32(rng.uniform(0.4, 1)))
    return Case("qdq_rope", attributes, data)


CASES = {
    "attention": attention,
    "qdq_attention": qdq_attention,
    "past_qdq_attention": past_qdq_attention,
    "qdq_rope": qdq_rope,
    "rotary": rotary,
    "past_attention": past_attention,
    "past_scores": past_scores,
    "past_mix": past_mix,
    "past_mean": past_mean,
    "value_groups": value_groups,
}
