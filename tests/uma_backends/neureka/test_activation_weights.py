"""Products of two activations on the array, alone and in attention: random operands, with little L1 and with much."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from tvm import relax

from tests.qnn.cases_attention import ATTENTION_LIMITS, attention, qdq_attention
from tests.qnn.kernel_batch import Case
from tvm_pulp import qnn, soc
from tvm_pulp.entry_point import plan_for
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.qnn import softmax_table
from tvm_pulp.qnn.network import Network
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.conformance.layer_network import offered, pinned, simulate, target_for, tight_plan
from uma_backends.neureka import NeurekaBackend

SIRACUSA = soc.load("siracusa")
BACKEND = NeurekaBackend()
TARGET = target_for(SIRACUSA, BACKEND)


def activations(case: Case) -> int:
    if case.operator == "qdq_attention":
        return 3
    return 3 + case.attributes["has_mask"] if case.operator == "attention" else 2


def network_of(cases: list[Case]) -> tuple[Network, list[np.ndarray], list[np.ndarray]]:
    """Network, inputs and expected outputs."""
    builder = relax.BlockBuilder()
    data = [array for case in cases for array in case.inputs[: activations(case)]]
    inputs = [relax.Var(f"x{i}", relax.TensorType(x.shape, str(x.dtype))) for i, x in enumerate(data)]
    given = iter(inputs)
    with builder.function("main", inputs):
        with builder.dataflow():
            results = []
            for case in cases:
                operands: list[Any] = [next(given) for _ in range(activations(case))]
                operands += [relax.const(c, str(c.dtype)) for c in case.inputs[activations(case) :]]
                results.append(builder.emit(qnn.emit(case.operator, operands, case.attributes)))
            output = builder.emit_output(relax.Tuple(results))
        builder.emit_func_output(output)
    names = tuple(f"x{i}" for i in range(len(data)))
    imported = Imported(builder.get(), names, tuple(f"y{i}" for i in range(len(cases))), "pulp")
    expected = [
        OPERATORS[case.operator].reference(OPERATORS[case.operator].stated(case.attributes), case.inputs)
        for case in cases
    ]
    return build_network(imported.module, imported, "heads"), data, expected


def random_attention(rng: np.random.Generator) -> Case:
    """Results of int8, as the array makes them."""
    case = attention(rng)
    rule = replace(Requant.of(case.attributes), low=-128, high=127, wide=False)
    logit = replace(Requant.of(case.attributes, "logit"), wide=False)
    return replace(case, attributes={**case.attributes, **rule.attributes(), **logit.attributes("logit")})


def random_matmul(rng: np.random.Generator) -> Case:
    batch, rows, depth, columns = (int(n) for n in rng.integers(1, (4, 40, 45, 40)))
    transpose_b, types = int(rng.integers(2)), [str(t) for t in rng.choice(["int8", "uint8"], 2)]
    shapes = ((batch, rows, depth), (batch, columns, depth) if transpose_b else (batch, depth, columns))
    limits = [np.iinfo(t) for t in types]
    data = [rng.integers(n.min, n.max + 1, s).astype(n.dtype) for n, s in zip(limits, shapes, strict=True)]
    rule = Requant("pulp", 12, 0, -128, 127, wide=False)
    factors = [np.array([value], np.int32) for value in rng.integers(0, 300, 2)]
    zero_points = {f"zero_point_{name}": 0 for name in "ab"}
    if rng.integers(4):
        # As frameworks round; 1 << 30 has ties.
        low, kind = int(rng.choice([-128, 0])), str(rng.choice(["half_even", "half_even", "half_up", "tflite"]))
        rule = Requant(kind, 0, int(rng.integers(-5, 6)), low, low + 255, wide=True)
        mul, shift = int(rng.choice([1 << 30, rng.integers(1 << 30, 1 << 31)])), int(rng.integers(5, 10))
        factors = [np.array([mul], np.int32), np.array([-shift if kind == "tflite" else 31 + shift], np.int32)]
        zero_points = {f"zero_point_{n}": int(rng.choice([0, rng.integers(-9, 10)])) + (0 if t == "int8" else 128)
                       for n, t in zip("ab", types, strict=True)}  # fmt: skip
    attributes = {"transpose_b": transpose_b, **zero_points, **rule.attributes()}
    return Case("matmul", attributes, [*data, *factors])


def random_qdq_attention(rng: np.random.Generator) -> Case:
    """Heads of whole words, wherever they lie; half of the queries have no zero point."""
    case = qdq_attention(rng)
    while case.attributes["size"] % 4 or any(case.attributes[f"{n}_offset"] % 4 for n in "qkv"):
        case = qdq_attention(rng)
    # 0.01 has ties, which go to even results.
    scale = {"value_scale": float(np.float32(rng.choice([0.01, 0.02 * rng.random() + 0.003])))}
    return replace(case, attributes=case.attributes | scale | ({"zero_point_q": 0} if rng.integers(2) else {}))


def is_offered(case: Case) -> bool:
    network, _, _ = network_of([case])
    return bool(offered(BACKEND, BACKEND.context(BACKEND.options({}), SIRACUSA, 8), network))


@pytest.mark.sample(1)
@pytest.mark.parametrize("make", [random_attention, random_matmul, random_qdq_attention])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 12))])
def test_random_products(make: Callable[[np.random.Generator], Case], seed: int) -> None:
    rng = np.random.default_rng(seed)
    network, data, expected = network_of(list(islice(filter(is_offered, iter(lambda: make(rng), None)), 4)))
    roomy = pinned(TARGET, network)
    for target, plan in ((roomy, plan_for(roomy, network)), tight_plan(TARGET, network)):
        result = simulate(target, plan, data)
        for got, wanted in zip(result.outputs, expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
        assert result.jobs["neureka"] >= len(expected)


def test_rows_that_fill_a_picture_are_known() -> None:
    """Rows that do not make a rectangle are read with others behind them: nobody may write those meanwhile."""
    rng = np.random.default_rng(3)
    found = (case for case in (random_matmul(rng) for _ in range(500)) if case.inputs[0].shape[1] in (13, 17, 19, 23))
    network, _, _ = network_of([next(filter(is_offered, found))])
    program = plan_for(pinned(TARGET, network), network).program
    reads = [read for step in program for action in step.actions if action.do == "job" for read in action.reads]
    assert all((read.fill or 0) <= (read.reach or 0) - read.bytes for read in reads)
    assert any(read.fill for read in reads)


@pytest.mark.parametrize(
    ("heads", "queries", "keys", "size", "engine"), [(4, 64, 64, 16, "neureka"), (2, 4, 8, 4, "cluster")]
)
def test_the_array_takes_heads_that_are_worth_it(heads: int, queries: int, keys: int, size: int, engine: str) -> None:
    rng = np.random.default_rng(9)
    q, k, v = (rng.integers(-128, 128, (1, n, heads, size)).astype(np.int8) for n in (queries, keys, keys))
    layouts = {f"{name}_layout": "shd" for name in "qkvy"}
    absent = {"has_mask": 0, "has_logit_table": 0, "has_probability": 0}
    softmax = {"a": 1, "b": 67, "c": 2376, "log2": 50, "levels": 256}
    rule = Requant("pulp", 16, 0, -128, 127, wide=False)
    rules = {**rule.attributes(), **rule.attributes("logit")}
    factors = [np.array([value], np.int32) for value in (200, 5, 300, 7)]
    case = Case("attention", {**layouts, **absent, **softmax, **rules}, [q, k, v, *factors])
    network, data, expected = network_of([case])
    plan = plan_for(TARGET, network)
    result = simulate(TARGET, plan, data)
    np.testing.assert_array_equal(result.outputs[0], expected[0])
    assert [layer["engine"] for layer in result.report["layers"]] == [engine]


@pytest.mark.parametrize("heads", [9, 16])
def test_masked_logits_that_a_division_makes(heads: int) -> None:
    """Some heads at a time, a causal mask that lets hidden keys through, halves rounded towards 0 and other weights."""
    rng, count = np.random.default_rng(heads), 21
    q, k, v = (rng.integers(-128, 128, (1, count, heads, 4)).astype(np.int8) for _ in "qkv")
    mask = np.where(np.arange(count) > np.arange(count)[:, None], -128, 0).astype(np.int8)[None]
    tables = [np.trunc(np.arange(-128, 128) / 2).astype(np.int8), (np.arange(256) // 2).astype(np.int8)]
    layouts = {f"{name}_layout": "shd" for name in "qkvy"}
    present = {"has_mask": 1, "has_logit_table": 1, "has_probability": 1}
    softmax = {"a": 1, "b": 64, "c": 2136, "log2": 47, "levels": 256}
    rule = Requant("pulp", 16, 0, -128, 127, wide=False)
    factors = [np.array([value], np.int32) for value in (953, 1 << 15, 425, 1 << 15)]
    case = Case(
        "attention", {**layouts, **present, **softmax, **rule.attributes(), **rule.attributes("logit")},
        [q, k, v, mask, *factors[:2], *tables, *factors[2:]],
    )  # fmt: skip
    network, data, expected = network_of([case])
    target = pinned(TARGET, network)
    result = simulate(target, plan_for(target, network), data)
    np.testing.assert_array_equal(result.outputs[0], expected[0])
    assert result.jobs["neureka"] >= 2 * heads


@pytest.mark.parametrize(("queries", "keys", "engine"), [(32, 32, "neureka"), (1, 64, "cluster")])
def test_the_array_takes_quantized_heads_that_are_worth_it(queries: int, keys: int, engine: str) -> None:
    """All queries of a sequence, not a single one."""
    rng, heads, size = np.random.default_rng(5), 4, 16
    data = [rng.integers(-128, 128, (1, n, heads * size)).astype(np.int8) for n in (queries, keys, keys)]
    strides = {f"{n}_{part}": step for n in "qkv" for part, step in (("stride", heads * size), ("head_stride", size))}
    absent = dict.fromkeys(("has_mask", "has_q_table", "has_k_table", "q_offset", "k_offset", "v_offset"), 0)
    zero_points = {"zero_point_q": 5, "zero_point_k": -3, "zero_point_v": 1}
    scales = {"logit_scale": float(np.float32(0.0037123)), "value_scale": float(np.float32(0.0049123))}
    sizes = {"heads": heads, "queries": queries, "key_count": keys, "size": size, "group": 1, "y_layout": "shd"}
    attributes = {**ATTENTION_LIMITS, **sizes, **strides, **absent, **zero_points, **scales}
    tables = [np.arange(256).astype(np.uint8)[None], softmax_table.exponentials(0.05, 24)]
    network, inputs, expected = network_of([Case("qdq_attention", attributes, [*data, *tables])])
    result = simulate(TARGET, plan_for(TARGET, network), inputs)
    np.testing.assert_array_equal(result.outputs[0], expected[0])
    assert [layer["engine"] for layer in result.report["layers"]] == [engine]
