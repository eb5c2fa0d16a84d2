"""Every golden vector rebuilt as a graph of the dialect: compiler, driver and model give the same bytes."""

from typing import Any

import numpy as np
import pytest

from tests.uma_backends.ita import reference
from uma_backends.ita.reference import ItaRequantization

from .golden_vector import NAMES, GoldenVector, activation_of, rule_of
from .networks import ROOMY, engines, rule, run_on_ita

BYTES = np.arange(-128, 128)
OCTAVE = {"form": "octave", "largest": 255, "group": 16, "dtype": "uint8"}


def vectors(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", [n for kind in kinds for n in NAMES[kind]], indirect=True)


def linear(emit: Any, x: Any, weight: np.ndarray, bias: np.ndarray, given: ItaRequantization) -> Any:
    """A product with [in][out] weights."""
    attributes, operands = rule(given.multiplier, given.shift, given.add)
    matrix = np.ascontiguousarray(weight.T.astype(np.int8))
    fixed = {"zero_point": 0, "has_bias": 1, **attributes}
    return emit("dense", [x, matrix, bias.astype(np.int32), *operands], fixed)


def product(emit: Any, a: Any, b: Any, given: ItaRequantization, transpose_b: int) -> Any:
    attributes, operands = rule(given.multiplier, given.shift, given.add)
    fixed = {"zero_point_a": 0, "zero_point_b": 0, "transpose_b": transpose_b, **attributes}
    return emit("matmul", [a, b, *operands], fixed)


@vectors("gemm")
def test_products(vector: GoldenVector) -> None:
    a = vector.arrays
    unit = activation_of(a)

    def define(emit: Any, inputs: list[Any]) -> Any:
        y = linear(emit, inputs[0], a["w"], a["bias"], rule_of(a))
        return y if unit is None else emit("lookup", [y, unit.apply(BYTES).astype(np.int8)])

    run = run_on_ita({"x": a["x"].astype(np.int8)}, define)
    np.testing.assert_array_equal(run.outputs[0], a["y"])
    assert set(engines(run).values()) == {"ita"}


@vectors("gelu")
@pytest.mark.parametrize("kind", ["y", "y_relu"])
def test_activations(vector: GoldenVector, kind: str) -> None:
    """Behind a product with the unit matrix; the compiler finds the unit's constants from the table."""
    a = vector.arrays
    order = np.argsort(a["q"])
    table = a[kind][order].astype(np.int8)

    def define(emit: Any, inputs: list[Any]) -> Any:
        unit = np.eye(64, dtype=np.int8)
        return emit("lookup", [linear(emit, inputs[0], unit, np.zeros(64), ItaRequantization(1, 0)), table])

    run = run_on_ita({"x": a["q"][order].astype(np.int8).reshape(4, 64)}, define)
    np.testing.assert_array_equal(run.outputs[0].reshape(-1), table)
    assert engines(run) == {"dense+lookup": "ita"}


@vectors("softmax")
def test_softmax(vector: GoldenVector) -> None:
    """Queries that select rows of logits, keys that are them, values that select columns: a head per 64 columns."""
    x, y = vector.arrays["x"], vector.arrays["y"]
    length = x.shape[1]
    heads = length // 64
    q = np.zeros((1, heads, length, 64), np.int8)
    q[:, :, :64] = np.eye(64, dtype=np.int8)
    v = np.zeros((1, heads, length, 64), np.int8)
    for head in range(heads):
        v[0, head, 64 * head : 64 * head + 64] = np.eye(64, dtype=np.int8)

    def define(emit: Any, inputs: list[Any]) -> Any:
        logits = product(emit, inputs[0], inputs[1], ItaRequantization(1, 0), 1)
        return product(emit, emit("softmax", [logits], OCTAVE), inputs[2], ItaRequantization(1, 0, -128), 0)

    for first in range(0, len(x), 64):
        rows = x[first : first + 64]
        k = np.zeros((1, heads, length, 64), np.int8)
        k[..., : len(rows)] = rows.T
        # A tile's keys and values of 512 columns do not fit into 128 KiB.
        run = run_on_ita({"q": q, "k": k, "v": v}, define, ROOMY if length > 256 else None)
        made = np.concatenate(list(run.outputs[0][0, :, : len(rows)]), axis=1)
        np.testing.assert_array_equal(made.astype(np.int64) + 128, y[first : first + 64])
        assert engines(run) == {"matmul+softmax+matmul": "ita"}


@vectors("attn", "mha")
def test_attention(vector: GoldenVector) -> None:
    """Heads with requantizations of their own, their sum and its requantization on the cores."""
    a = vector.arrays
    heads, s, p = (int(a[key]) for key in "HSP")

    def head(emit: Any, q: Any, kv: Any, h: int) -> Any:
        rules = [rule_of(a, i, h) for i in range(6)]
        parts = [
            emit("reshape", [linear(emit, x, a[f"W{n}"][h], a[f"B{n}"][h], rules[i]), (1, 1, s, p)])
            for i, (n, x) in enumerate((("q", q), ("k", kv), ("v", kv)))
        ]
        soft = emit("softmax", [product(emit, parts[0], parts[1], rules[3], 1)], OCTAVE)
        mixed = emit("reshape", [product(emit, soft, parts[2], rules[4], 0), (1, s, p)])
        return linear(emit, mixed, a["Wo"][h], a["Bo"][h], rules[5])

    def define(emit: Any, inputs: list[Any]) -> Any:
        made = [head(emit, *inputs, h) for h in range(heads)]
        if heads == 1:
            return made[0]
        stacked = emit("concat", made, {"axis": 0})
        total = emit("reduce", [stacked], {"kind": "sum", "axes": [0], "keepdims": 1})
        last = rule_of(a, 6, 0)
        attributes, operands = rule(last.multiplier, last.shift, last.add)
        return emit("requantize", [total, *operands], {**attributes, "zero_point": 0, "axis": 2})

    run = run_on_ita({"q": a["q"].astype(np.int8)[None], "kv": a["kv"].astype(np.int8)[None]}, define)
    np.testing.assert_array_equal(run.outputs[0][0], a["out"] if heads > 1 else a["out_heads"][0])
    assert {engine for operator, engine in engines(run).items() if "softmax" in operator} == {"ita"}


@vectors("ffn")
def test_feedforward(vector: GoldenVector) -> None:
    a = vector.arrays
    unit = activation_of(a)

    def define(emit: Any, inputs: list[Any]) -> Any:
        y = linear(emit, inputs[0], a["W1"], a["B1"], rule_of(a, 0))
        y = y if unit is None else emit("lookup", [y, unit.apply(BYTES).astype(np.int8)])
        return linear(emit, y, a["W2"], a["B2"], rule_of(a, 1))

    run = run_on_ita({"x": a["x"].astype(np.int8)}, define)
    np.testing.assert_array_equal(run.outputs[0], a["y"])
    np.testing.assert_array_equal(reference.linear(a["f1"], a["W2"], a["B2"], rule_of(a, 1)), a["y"])
    assert set(engines(run).values()) == {"ita"}
