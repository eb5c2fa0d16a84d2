"""The sum behind a rounding in the kernel's arithmetic: every pair of bytes is the operator's."""

from typing import Any

import numpy as np

from schedules.byte_tables import byte_values
from schedules.cluster.requantize_add import unmoved_sum_fields
from schedules.cluster.requantize_sum import sum_fields
from tvm_pulp.qnn.add import Add
from tvm_pulp.qnn.requant import Requant


def sum_attributes(rng: np.random.Generator, dtype: str) -> dict[str, Any]:
    """As quantize/dequantize graphs have them, with slopes from a tenth to three."""
    low, high = (-128, 127) if dtype == "int8" else (0, 255)
    rule = Requant("half_even", 0, int(rng.integers(low, high)), low, high, dtype=dtype)
    zeros = dict(zip(("zero_point_a", "zero_point_b"), rng.integers(-128, 128, 2).tolist(), strict=True))
    multipliers = (rng.uniform(0.1, 3.0, 2) * 2.0**20).astype(int).tolist()
    return {"form": "half_even", "multipliers": multipliers, "shift": 20, **zeros, **rule.attributes()}


def check(seed: int) -> bool:
    """Whether the kernel can make a random sum; if it can, all pairs are compared."""
    rng = np.random.default_rng(seed)
    types, place = rng.choice(["int8", "uint8"], 3).tolist(), seed % 2
    attributes = sum_attributes(rng, types.pop())
    low = int(byte_values(types[place]).min())
    fields = sum_fields({"sum": attributes, "types": types, "scalars": [], "place": place, "low": low})
    if fields is None:
        return False
    a, b = byte_values(types[0])[:, None], byte_values(types[1])[None, :]
    expected = Add().reference(Add().stated(attributes), [a.astype(types[0]), b.astype(types[1])]).astype(np.int64)
    rounded, other = (a, b) if place == 0 else (b, a)
    total = (rounded - low - 128) * fields["mul"] + other * fields["mul_b"] + fields["add"]
    assert np.abs(total).max() < 1 << 31
    moved = 0 if attributes["requant_dtype"] == "int8" else 128
    np.testing.assert_array_equal(np.clip(total >> fields["shift"], -128, 127) + moved, expected)
    return True


def test_every_pair_is_right() -> None:
    made = [check(seed) for seed in range(24)]
    # A tie that goes to the even side is at no line's steps; few sums have one.
    assert sum(made) >= 18, made


def check_unmoved(seed: int) -> bool:
    """As `check`, for the kernel that clips to the result's type."""
    rng = np.random.default_rng(seed)
    types, place = rng.choice(["int8", "uint8"], 2).tolist(), seed % 2
    result = types[1 - place]
    attributes, low = sum_attributes(rng, result), int(byte_values(types[place]).min())
    given = {"sum": attributes, "types": types, "scalars": [], "place": place, "low": low}
    fields = unmoved_sum_fields(given)
    other = "uint8" if result == "int8" else "int8"
    assert unmoved_sum_fields(given | {"sum": sum_attributes(rng, other)}) is None
    if fields is None:
        return False
    a, b = byte_values(types[0])[:, None], byte_values(types[1])[None, :]
    expected = Add().reference(Add().stated(attributes), [a.astype(types[0]), b.astype(types[1])]).astype(np.int64)
    rounded, added = (a, b) if place == 0 else (b, a)
    total = (rounded - low - 128) * fields["mul_a"] + added * fields["mul_b"] + fields["add"]
    assert np.abs(total).max() < 1 << 31
    rule = Requant.of(attributes)
    np.testing.assert_array_equal(np.clip(total >> fields["shift_sum"], rule.low, rule.high), expected)
    return True


def test_every_pair_is_right_in_the_type_of_the_result() -> None:
    made = [check_unmoved(seed) for seed in range(24)]
    assert sum(made) >= 18, made
