"""Sums with roundings of their own as one multiply-accumulate: equal for every pair of bytes, or not at all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.byte_functions import find_linear_sum
from schedules.byte_tables import byte_values
from schedules.cluster.add import linear_sum
from tvm_pulp.qnn.add import Add
from tvm_pulp.qnn.fixed_point import quantize_multiplier
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

RANGES = {"int8": (-128, 127), "uint8": (0, 255)}
TYPES = st.sampled_from(["int8", "uint8"])


def tflite_sum(scales: tuple[float, float, float], subtract: int) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Attributes and constants as TFLite prepares them."""
    twice = 2 * max(scales[:2])
    pairs = [quantize_multiplier(s / twice) for s in scales[:2]]
    attributes = {"form": "tflite", "subtract": subtract, "requant_a": "none", "requant_b": "none"}
    attributes |= {"multipliers": [p[0] for p in pairs], "exponents": [p[1] for p in pairs]}
    return attributes, quantize_multiplier(twice / ((1 << 20) * scales[2]))


def sum_layer(attributes: dict[str, Any], types: tuple[str, str, str], constants: tuple[int, ...]) -> Layer:
    inputs = [Tensor(n, TensorSpec((1, 8), t), "input") for n, t in zip("ab", types[:2], strict=True)]
    scalars = [
        Tensor(f"c{i}", TensorSpec((1,), "int32"), "constant", data=np.array([c], np.int32))
        for i, c in enumerate(constants)
    ]
    return Layer(
        "sum", "add", attributes, [*inputs, *scalars], [Tensor("y", TensorSpec((1, 8), types[2]), "output")], None
    )


def check_every_pair(attributes: dict[str, Any], types: tuple[str, str, str], constants: tuple[int, ...]) -> None:
    found = linear_sum(sum_layer(attributes, types, constants))
    assert found is not None
    a, b = byte_values(types[0])[:, None], byte_values(types[1])[None, :]
    total = a * found.mul_a + b * found.mul_b + found.add
    assert np.abs(total).max() < 1 << 31
    low, high = RANGES[types[2]]
    expected = Add().reference(Add().stated(attributes), [a, b, *(np.array([c]) for c in constants)])
    np.testing.assert_array_equal(np.clip(total >> found.shift, low, high), expected)


@pytest.mark.parametrize("form", ["tflite", "half_even"])
@settings(max_examples=25)
@given(st.integers(0, 1 << 30), st.tuples(TYPES, TYPES, TYPES), st.integers(0, 3))
def test_found_sums_are_exact(form: str, seed: int, types: tuple[str, str, str], same: int) -> None:
    """Scales that differ, that are equal, and that equal the result's, where ties are frequent."""
    rng = np.random.default_rng(seed)
    first, second = (float(s) for s in 10.0 ** rng.uniform(-2, 0, 2))
    second = first if same else second
    scales = (first, second, first if same == 2 else max(first, second) * float(10.0 ** rng.uniform(-0.3, 0.5)))
    zeros = [int(rng.integers(*RANGES[t])) for t in types]
    constants: tuple[int, ...] = ()
    if form == "tflite":
        attributes, constants = tflite_sum(scales, int(rng.integers(2)))
    else:
        multipliers = [round(s / scales[2] * (1 << 20)) for s in scales[:2]]
        attributes = {"form": form, "shift": 20, "multipliers": multipliers}
    rule = Requant(form, 0, zeros[2], *RANGES[types[2]])
    attributes |= {"zero_point_a": zeros[0], "zero_point_b": zeros[1], **rule.attributes()}
    check_every_pair(attributes, types, constants)


def test_what_is_not_linear_is_refused() -> None:
    """Squares of bytes are no multiple of bytes."""
    values = byte_values("uint8")
    result = np.clip((values[:, None] ** 2 + values[None, :]) >> 8, 0, 255)
    assert find_linear_sum(result, values, values, (0.5, 1 / 256), 0, 255) is None
