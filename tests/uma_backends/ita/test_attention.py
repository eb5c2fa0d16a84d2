"""Attention with the engine's own softmax through compiler, driver and model."""

import numpy as np
import pytest

from tests.uma_backends.ita import reference
from uma_backends.ita.reference import ItaRequantization

from .networks import engines, rule, run_on_ita

LOGITS, MIX, VALUE = ItaRequantization(90, 14), ItaRequantization(130, 14, -2), ItaRequantization(80, 14, 5)
OCTAVE = {"form": "octave", "largest": 255, "group": 16, "dtype": "uint8"}
SWAP = {"axes": [0, 2, 1, 3]}


def product(emit, a, b, rule_given, transpose_b):  # type: ignore[no-untyped-def]
    attributes, operands = rule(rule_given.multiplier, rule_given.shift, rule_given.add)
    fixed = {"zero_point_a": 0, "zero_point_b": 0, "transpose_b": transpose_b}
    return emit("matmul", [a, b, *operands], {**fixed, **attributes})


@pytest.mark.sample(5)
@pytest.mark.parametrize("form", ["plain", "heads", "values"])
@pytest.mark.parametrize(
    ("heads", "keys", "size"), [(1, 64, 64), (3, 128, 64), (2, 192, 16), (1, 64, 192), (2, 64, 100)]
)
def test_attention(heads: int, keys: int, size: int, form: str) -> None:
    """Heads one behind the other, side by side, and with the projection of values inside."""
    random = np.random.default_rng(keys + size)
    shape = (1, heads, keys, size) if form == "plain" else (1, keys, heads, size)
    q, k, v = (random.integers(-128, 128, shape).astype(np.int8) for _ in range(3))
    width = 90
    x = random.integers(-128, 128, (1, keys, width)).astype(np.int8)
    weight = random.integers(-128, 128, (heads * size, width)).astype(np.int8)
    bias = random.integers(-3000, 3000, heads * size).astype(np.int32)

    def define(emit, inputs):  # type: ignore[no-untyped-def]
        a, b, c = inputs
        if form == "values":
            attributes, operands = rule(VALUE.multiplier, VALUE.shift, VALUE.add)
            c = emit("dense", [c, weight, bias, *operands], {"zero_point": 0, "has_bias": 1, **attributes})
            c = emit("reshape", [c, (1, keys, heads, size)])
        if form != "plain":
            a, b, c = (emit("transpose", [t], SWAP) for t in (a, b, c))
        soft = emit("softmax", [product(emit, a, b, LOGITS, 1)], OCTAVE)
        mixed = product(emit, soft, c, MIX, 0)
        return emit("transpose", [mixed], SWAP) if form != "plain" else mixed

    inputs = {"q": q, "k": k, "v": x if form == "values" else v}
    run = run_on_ita(inputs, define)
    values = reference.linear(x, weight.T, bias, VALUE).reshape(shape) if form == "values" else v
    a, b, c = (t if form == "plain" else t.swapaxes(1, 2) for t in (q, k, values))
    expected = np.stack([reference.attention(a[0, h], b[0, h], c[0, h], LOGITS, MIX) for h in range(heads)])[None]
    np.testing.assert_array_equal(run.outputs[0], expected if form == "plain" else expected.swapaxes(1, 2))
    assert set(engines(run).values()) == {"ita"}, engines(run)
