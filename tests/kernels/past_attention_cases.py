"""Calls of attention over a cache and of rotary positions, with what they must give."""

import numpy as np

from tests.kernels.call import Call, Out, Scratch
from tests.kernels.matrix_cases import Case
from tvm_pulp.qnn.past_attention import PastAttention, PastMean, PastMix, PastScores, exponential_table
from tvm_pulp.qnn.rotary import Rotary, rotation_table
from tvm_pulp.qnn.value_groups import ValueGroups


def random_bytes(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, 128, shape).astype(np.int8)


def rotary_case(rng: np.random.Generator, positions: int, heads: int, size: int) -> Case:
    start = int(rng.integers(0, 300))
    x, rotation = random_bytes(rng, positions, heads * size), rotation_table(start + positions, size)[start:]
    fields = {"x": x, "rotation": rotation, "y": Out(x.shape, "int8")}
    fields |= {"positions": positions, "heads": heads, "size": size}
    return Case(Call("rotary", fields), Rotary().reference(Rotary().stated({}), [x, rotation]), x.size)


def as_stored(rng: np.random.Generator, rows: np.ndarray, *, by_element: bool) -> np.ndarray:
    """Values as a cache holds them; anything where four positions of an element are not all there."""
    if not by_element:
        return rows
    filled = np.concatenate((rows, random_bytes(rng, -len(rows) % 4, rows.shape[1])))
    return np.ascontiguousarray(filled.reshape(-1, 4, rows.shape[1]).swapaxes(1, 2)).reshape(len(filled) // 4, -1)


def past_attention_case(
    rng: np.random.Generator,
    rows: tuple[int, int],
    kv_heads: int,
    group: int,
    size: int,
    cache: tuple[int, int],
    *,
    by_element: bool = False,
) -> Case:
    """`rows`: queries of the call, the last of all new rows. `cache`: length and capacity."""
    (queries, new), (length, capacity) = rows, cache
    width = kv_heads * size
    q = random_bytes(rng, new, width * group)
    k, v, past_k, past_v = (random_bytes(rng, n, width) for n in (new, new, capacity, capacity))
    stored, table = np.array([length], np.int32), exponential_table(int(rng.integers(8, 48)))
    shift = int(rng.integers(1, 16))
    attributes = {"heads": kv_heads * group, "kv_heads": kv_heads, "mul": int(rng.integers(1, 1000)), "shift": shift}
    expected = PastAttention().reference(PastAttention().stated(attributes), [q, k, v, past_k, past_v, stored, table])
    # The values mean the same however they are stored.
    stored_v = as_stored(rng, past_v, by_element=by_element)
    np.testing.assert_array_equal(
        PastAttention().reference(PastAttention().stated(attributes), [q, k, v, past_k, stored_v, stored, table]),
        expected,
    )
    first, room = new - queries, 6 * (capacity + new) + 48
    room += -room % 4
    fields = {
        "q": q[first:], "k": k, "v": v, "past_k": past_k, "past_v": stored_v, "length": stored, "exponential": table,
        "y": Out((queries, width * group), "int8"), "scratch": Scratch(room), "scratch_stride": room,
        "queries": queries, "first": first, "heads": kv_heads * group, "group": group, "size": size,
        "q_stride": width * group, "k_stride": width, "past_stride": width, "mul": attributes["mul"], "shift": shift,
        "value_stride": stored_v.shape[1], "by_element": int(by_element),
    }  # fmt: skip
    return Case(Call("past_attention", fields), expected[first:], q.size * (length + new))


def past_parts_case(
    rng: np.random.Generator,
    part: str,
    kv_heads: int,
    group: int,
    size: int,
    cache: tuple[int, int],
) -> Case:
    """A part of the attention of one token. `cache`: length and capacity."""
    (length, capacity), width, heads = cache, kv_heads * size, kv_heads * group
    q, k, v = (random_bytes(rng, 1, n) for n in (width * group, width, width))
    past_k, past_v = (random_bytes(rng, capacity, width) for _ in range(2))
    stored, table = np.array([length], np.int32), exponential_table(int(rng.integers(8, 48)))
    rule = {"mul": int(rng.integers(1, 1000)), "shift": int(rng.integers(1, 16))}
    attributes = {"heads": heads, "kv_heads": kv_heads, **rule}
    scores = PastScores().reference(PastScores().stated(attributes), [q, past_k, stored])
    mix = PastMix().reference(PastMix().stated(attributes), [q, k, scores, past_v, stored, table])
    mean = PastMean().reference(
        PastMean().stated({"heads": heads, "kv_heads": kv_heads, "key_count": capacity + 1}), [mix, v]
    )
    whole = PastAttention().reference(PastAttention().stated(attributes), [q, k, v, past_k, past_v, stored, table])
    np.testing.assert_array_equal(mean, whole)
    shape = {"heads": heads, "group": group, "size": size}
    rest = {**shape, "capacity": capacity, **rule}
    if part == "past_mean":
        fields = {"mix": mix, "v": v, "y": Out((1, heads * size), "int8"), **shape}
        return Case(Call(part, fields), mean, mean.size)
    if part == "past_scores":
        fields = {"q": q, "past_k": past_k, "length": stored, "y": Out(scores.shape, "int32"), **rest}
        fields["past_stride"] = width
        return Case(Call(part, fields), scores, q.size * length)
    room = (2 * capacity + 4 + 3) // 4 * 4
    stored_v = as_stored(rng, past_v, by_element=part == "past_mix_by_element")
    np.testing.assert_array_equal(
        PastMix().reference(PastMix().stated(attributes), [q, k, scores, stored_v, stored, table]), mix
    )
    fields = {
        "q": q, "k": k, "scores": scores, "past_v": stored_v, "length": stored, "exponential": table,
        "y": Out(mix.shape, "int32"), "scratch": Scratch(room), "scratch_stride": room, **rest,
        "value_stride": stored_v.shape[1],
    }  # fmt: skip
    return Case(Call(part, fields, structure="past_mix"), mix, q.size * (length + 1))


def value_groups_case(rng: np.random.Generator, rows: int, columns: int, length: int) -> Case:
    v, group, stored = random_bytes(rng, rows, columns), random_bytes(rng, 1, 4 * columns), np.array([length], np.int32)
    expected = ValueGroups().reference(ValueGroups().stated({}), [v, group, stored])
    fields = {"v": v, "group": group, "length": stored, "y": Out(expected.shape, "int8")}
    return Case(Call("value_groups", {**fields, "rows": rows, "columns": columns}), expected, expected.size)
