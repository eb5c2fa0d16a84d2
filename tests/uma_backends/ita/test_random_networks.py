"""Feed-forward networks and attention of random sizes equal numpy, whoever runs which part of them."""

from typing import Any

import numpy as np
import pytest

from tests.uma_backends.ita import reference
from uma_backends.ita.reference import ItaGelu, ItaRequantization, Relu

from .networks import engines, rule, run_on_ita

BYTES = np.arange(-128, 128)
OCTAVE = {"form": "octave", "largest": 255, "group": 16, "dtype": "uint8"}
SWAP = {"axes": [0, 2, 1, 3]}


def seeds(count: int) -> list[Any]:
    """Two in every run."""
    return [pytest.param(seed, marks=pytest.mark.slow) if seed > 1 else seed for seed in range(count)]


def random_rule(random: np.random.Generator, depth: int) -> ItaRequantization:
    """A multiplier of eight bits that spreads sums of so many products over a byte."""
    spread = 74 * 74 * np.sqrt(depth) / 40
    shift = int(np.floor(np.log2(255 * spread)))
    return ItaRequantization(max(1, round(2**shift / spread)), shift, int(random.integers(-20, 20)))


def linear(emit: Any, x: Any, weight: np.ndarray, bias: np.ndarray, given: ItaRequantization) -> Any:
    attributes, operands = rule(given.multiplier, given.shift, given.add)
    return emit("dense", [x, weight, bias, *operands], {"zero_point": 0, "has_bias": 1, **attributes})


def constants(
    random: np.random.Generator, outputs: int, inputs: int
) -> tuple[np.ndarray, np.ndarray, ItaRequantization]:
    weight = random.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    bias = random.integers(-5000, 5000, outputs).astype(np.int32)
    return weight, bias, random_rule(random, inputs)


@pytest.mark.parametrize("seed", seeds(6))
def test_feed_forward(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, width, inner = (int(random.integers(1, most)) for most in (300 if seed < 4 else 513, 200, 400))
    x = random.integers(-128, 128, (1, rows, width)).astype(np.int8)
    first, second = constants(random, inner, width), constants(random, width, inner)
    unit = Relu(ItaRequantization(3, 1, -20)) if seed % 2 else ItaGelu(-64, -4539, ItaRequantization(116, 20))
    table = unit.apply(BYTES).astype(np.int8)

    def define(emit: Any, inputs: list[Any]) -> Any:
        hidden = emit("lookup", [linear(emit, inputs[0], *first), table])
        return linear(emit, hidden, *second)

    run = run_on_ita({"x": x}, define)
    hidden = reference.linear(x, first[0].T, first[1], first[2], unit)
    np.testing.assert_array_equal(run.outputs[0], reference.linear(hidden, second[0].T, second[1], second[2]))
    assert set(engines(run).values()) == {"ita"}


@pytest.mark.parametrize("seed", seeds(8))
def test_self_attention(seed: int) -> None:
    """Odd seeds have whole tiles of keys and run fused; of others the softmax is the cores'."""
    random = np.random.default_rng(100 + seed)
    most = 4 if seed < 4 else 8  # tiles
    tokens = 64 * int(random.integers(1, most + 1)) if seed % 2 else int(random.integers(1, 50 * most))
    width, heads, size = int(random.integers(1, 150)), int(random.integers(1, 5)), int(random.integers(1, 100))
    x = random.integers(-128, 128, (1, tokens, width)).astype(np.int8)
    parts = [constants(random, heads * size, width) for _ in range(3)]
    last = constants(random, width, heads * size)
    logit_rule, mix_rule = ItaRequantization(130, 15 + size.bit_length() // 2, -1), ItaRequantization(140, 14, 3)

    def product(emit: Any, a: Any, b: Any, given: ItaRequantization, transpose_b: int) -> Any:
        attributes, operands = rule(given.multiplier, given.shift, given.add)
        fixed = {"zero_point_a": 0, "zero_point_b": 0, "transpose_b": transpose_b, **attributes}
        return emit("matmul", [a, b, *operands], fixed)

    def define(emit: Any, inputs: list[Any]) -> Any:
        made = [linear(emit, inputs[0], *part) for part in parts]
        q, k, v = (emit("transpose", [emit("reshape", [m, (1, tokens, heads, size)])], SWAP) for m in made)
        soft = emit("softmax", [product(emit, q, k, logit_rule, 1)], OCTAVE)
        back = emit("transpose", [product(emit, soft, v, mix_rule, 0)], SWAP)
        return linear(emit, emit("reshape", [back, (1, tokens, heads * size)]), *last)

    run = run_on_ita({"x": x}, define)
    q, k, v = (reference.linear(x[0], w.T, b, r).reshape(tokens, heads, size).transpose(1, 0, 2) for w, b, r in parts)
    mixed = np.stack([_head(q[h], k[h], v[h], logit_rule, mix_rule) for h in range(heads)], axis=1)
    expected = reference.linear(mixed.reshape(tokens, -1), last[0].T, last[1], last[2])
    np.testing.assert_array_equal(run.outputs[0][0], expected)
    softmax = {engine for operator, engine in engines(run).items() if "softmax" in operator}
    assert softmax == ({"ita"} if seed % 2 else {"cluster"})


def _head(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, logit_rule: ItaRequantization, mix_rule: ItaRequantization
) -> np.ndarray:
    """One head; rows may end in a part of a group."""
    logits = reference.linear(q, k.T, 0, logit_rule)
    missing = -logits.shape[1] % 16
    # Logits of 300 octaves less count nothing.
    grown = np.pad(logits.astype(np.int64), ((0, 0), (0, missing)), constant_values=-300)
    soft = reference.softmax(grown)[:, : logits.shape[1]]
    return reference.linear(soft, v, 0, mix_rule)
