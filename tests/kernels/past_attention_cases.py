"""Calls of attention over a cache and of rotary positions, with what they must give."""

from __future__ import annotations

import numpy as np

from tests.kernels.call import Call, Out, Scratch
from tests.kernels.matrix_cases import Case
from tvm_pulp.qnn.past_attention import PastAttention, exponential_table
from tvm_pulp.qnn.rotary import Rotary, rotation_table


def random_bytes(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, 128, shape).astype(np.int8)


def rotary_case(rng: np.random.Generator, positions: int, heads: int, size: int) -> Case:
    start = int(rng.integers(0, 300))
    x, rotation = random_bytes(rng, positions, heads * size), rotation_table(start + positions, size)[start:]
    fields = {"x": x, "rotation": rotation, "y": Out(x.shape, "int8")}
    fields |= {"positions": positions, "heads": heads, "size": size}
    return Case(Call("rotary", fields), Rotary.reference({}, [x, rotation]), x.size)


def past_attention_case(
    rng: np.random.Generator,
    rows: tuple[int, int],
    kv_heads: int,
    group: int,
    size: int,
    cache: tuple[int, int],
) -> Case:
    """`rows`: queries of the call, the last of all new rows. `cache`: length and capacity."""
    (queries, new), (length, capacity) = rows, cache
    width = kv_heads * size
    q = random_bytes(rng, new, width * group)
    k, v, past_k, past_v = (random_bytes(rng, n, width) for n in (new, new, capacity, capacity))
    stored, table = np.array([length], np.int32), exponential_table(int(rng.integers(8, 48)))
    shift = int(rng.integers(1, 16))
    attributes = {"heads": kv_heads * group, "kv_heads": kv_heads, "mul": int(rng.integers(1, 1000)), "shift": shift}
    expected = PastAttention.reference(attributes, [q, k, v, past_k, past_v, stored, table])
    first, room = new - queries, 5 * (capacity + new) + 4
    room += -room % 4
    fields = {
        "q": q[first:], "k": k, "v": v, "past_k": past_k, "past_v": past_v, "length": stored, "exponential": table,
        "y": Out((queries, width * group), "int8"), "scratch": Scratch(room), "scratch_stride": room,
        "queries": queries, "first": first, "heads": kv_heads * group, "group": group, "size": size,
        "q_stride": width * group, "k_stride": width, "past_stride": width, "mul": attributes["mul"], "shift": shift,
    }  # fmt: skip
    return Case(Call("past_attention", fields), expected[first:], q.size * (length + new))
