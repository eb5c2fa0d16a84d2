"""Float biases beside quantized operands: the real sum is rounded once, the bias not before it."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.quantized_onnx import Builder
from tvm_pulp.canonicalize.finer_bias import RealSums, finer_bias
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget
from tvm_pulp.qnn.tensor_spec import RANGES

# Operator, weights, the axis of their channels, the operand's shape, attributes.
KINDS: dict[str, tuple[str, tuple[int, ...], int, tuple[int, ...], dict[str, Any]]] = {
    "conv": ("Conv", (8, 3, 3, 3), 0, (1, 3, 9, 9), {"pads": [1] * 4}),
    "pointwise": ("Conv", (16, 24, 1, 1), 0, (1, 24, 8, 8), {}),
    "line": ("Conv", (8, 3, 3), 0, (1, 3, 30), {}),
    "depthwise": ("Conv", (8, 1, 3, 3), 0, (1, 8, 9, 9), {"group": 8, "pads": [1] * 4}),
    "grouped": ("Conv", (8, 4, 3, 3), 0, (1, 8, 7, 7), {"group": 2}),
    "gemm": ("Gemm", (6, 8), 1, (20, 6), {}),
    "matmul": ("MatMul", (6, 8), 1, (2, 10, 6), {}),
    "transposed": ("ConvTranspose", (3, 8, 3, 3), 1, (1, 3, 5, 5), {"strides": [2, 2]}),
}


def _rounded(real: Fraction, zero_point: int, low: int, high: int) -> int:
    """Python rounds fractions half to even."""
    return min(max(round(real) + zero_point, low), high)


def _case(
    kind: str, dtype: str, unit: float, *, per_tensor: bool = False, relu: bool = False, bias_scale: float = 0
) -> tuple[Any, dict[str, np.ndarray], np.ndarray]:
    """A layer whose accumulator has units of about so much of a step, its operand, and the result of fractions.

    `bias_scale`: the bias is stored as bytes in such units.
    """
    operator, shape, axis, operand, attributes = KINDS[kind]
    g = Builder(np.random.default_rng([7, int(1 / unit), *kind.encode(), *dtype.encode()]))
    channels = shape[axis]
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    zero, target_zero = int(g.rng.integers(low // 4, high // 4)), int(g.rng.integers(low // 4 + 60, high // 2))
    scale, step = np.float32(0.037), np.float32(0.0083)
    spread = 1.0 if per_tensor else g.rng.uniform(0.3, 1.5, channels)
    weight_scale = (np.ones(channels) * unit * float(step) / float(scale) * spread).astype(np.float32)
    weight = (
        g.rng.integers(-127, 128, shape).astype(np.int8)
        if unit < 0.01
        else g.rng.integers(-5, 6, shape).astype(np.int8)
    )
    bias = g.rng.normal(size=channels).astype(np.float32) * np.float32(20) * step
    stored = np.clip(np.rint(bias / np.float32(bias_scale or 1)), -128, 127).astype(np.int8)
    if bias_scale:
        bias = stored.astype(np.float32) * np.float32(bias_scale)
    reach = 12 if unit >= 0.01 else 128
    x = np.clip(zero + g.rng.integers(-reach, reach, operand), low, high).astype(dtype)
    g.inputs.append(onnx.helper.make_tensor_value_info("x", onnx.helper.np_dtype_to_tensor_dtype(x.dtype), operand))
    real = g.node("DequantizeLinear", ["x", g.constant(scale), g.constant(np.array(zero, dtype))])
    scales = [g.constant(weight_scale[0])] if per_tensor else [g.constant(weight_scale)]
    held = g.node("DequantizeLinear", [g.constant(weight), *scales], **({} if per_tensor else {"axis": axis}))
    summand = g.constant(bias)
    if bias_scale:
        summand = g.node("DequantizeLinear", [g.constant(stored), g.constant(np.float32(bias_scale))])
    if operator == "MatMul":
        made = g.node("Add", [g.node("MatMul", [real, held]), summand])
    else:
        made = g.node(operator, [real, held, summand], **attributes)
    result = g.node(
        "QuantizeLinear",
        [g.node("Relu", [made]) if relu else made, g.constant(step), g.constant(np.array(target_zero, dtype))],
    )
    model = g.typed_model([result])
    model.opset_import[0].version, model.ir_version = 21, 10
    # Sums are integers, which double precision holds.
    xs, ws = x.astype(np.float64) - zero, weight.astype(np.float64)
    if operator in ("Gemm", "MatMul"):
        sums, at = xs @ ws, -1
    else:
        node = onnx.helper.make_node(operator, ["x", "w"], ["y"], **attributes)
        (sums,), at = ReferenceEvaluator(node, opsets={"": 21}).run(None, {"x": xs, "w": ws}), 1
    rows = np.moveaxis(sums, at, -1)
    units = [Fraction(float(scale)) * Fraction(float(w)) / Fraction(float(step)) for w in weight_scale]
    biases = [Fraction(float(b)) / Fraction(float(step)) for b in bias]
    floor = target_zero if relu else low
    wanted = [
        _rounded(units[c] * int(n) + biases[c], target_zero, floor, high)
        for row in rows.reshape(-1, channels)
        for c, n in enumerate(row)
    ]
    return model, {"x": x}, np.moveaxis(np.array(wanted, dtype).reshape(rows.shape), -1, at)


TARGETS = {"host": {}, "siracusa": {"target": "c", "soc": "siracusa"}, "neureka": {"target": "uma-neureka"}}
COARSE, FINE = 0.1, 1 / 1500
CASES = [(kind, "int8", "host", unit) for kind in KINDS for unit in (COARSE, FINE)]
CASES += [("conv", "uint8", "host", COARSE), ("depthwise", "int8", "siracusa", FINE)]
CASES += [("conv", "uint8", "siracusa", COARSE), ("pointwise", "int8", "siracusa", FINE)]
CASES += [
    ("conv", "int8", "neureka", COARSE),
    ("pointwise", "int8", "neureka", FINE),
    ("gemm", "int8", "neureka", FINE),
]


def _check(path: Path, model: Any, feeds: dict[str, np.ndarray], wanted: np.ndarray, target: str) -> None:
    onnx.save(model, path / "model.onnx")
    (found,) = tvm_pulp.compile(path / "model.onnx", **TARGETS[target]).run(feeds).outputs.values()
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.sample(8)
@pytest.mark.parametrize(("kind", "dtype", "target", "unit"), CASES)
def test_results_are_those_of_real_numbers(tmp_path: Path, kind: str, dtype: str, target: str, unit: float) -> None:
    model, feeds, wanted = _case(kind, dtype, unit)
    assert len(np.unique(wanted)) > 30
    _check(tmp_path, model, feeds, wanted, target)


@pytest.mark.parametrize(
    "options", [{"per_tensor": True}, {"relu": True}, {"bias_scale": 0.0031}], ids=["tensor", "relu", "bytes"]
)
def test_forms_of_scales_limits_and_biases(tmp_path: Path, options: dict[str, Any]) -> None:
    _check(tmp_path, *_case("conv", "int8", 1 / 300, **options), "host")


def _sums(rng: np.random.Generator, unit: float, spread: float, reach: float) -> RealSums:
    """Channels whose sums reach so many steps of the result to either side."""
    units = [Fraction(float(v)) for v in (unit * spread ** -rng.uniform(0, 1, 40)).astype(np.float32)]
    biases = [Fraction(float(v)) for v in (rng.normal(size=40) * 30).astype(np.float32)]
    ends = (
        np.array([[-1], [1]]) * np.array([int(min(reach / u, 1 << 30)) for u in units]) * rng.uniform(0.5, 1, (2, 40))
    )
    return RealSums(units, biases, *ends.astype(np.int64))


@pytest.mark.parametrize(
    ("unit", "spread"), [(3.7, 300), (0.3, 1.5), (0.3, 300), (1 / 130, 300), (1 / 1500, 30), (1 / 40_000, 1.5)]
)
def test_every_step_is_where_fractions_have_it(unit: float, spread: float) -> None:
    """Units of all sizes, channels that reach few results and many: the sums around each step are rounded right."""
    rng = np.random.default_rng([int(1e6 * unit), int(spread)])
    target = IntegerTarget(1.0, -7, "int8", *RANGES["int8"])
    for reach in (3, 90, 2000):
        sums = _sums(rng, unit, spread, reach)
        rule, constants, (whole,) = finer_bias(sums, target)
        for c, (u, b) in enumerate(zip(sums.units, sums.biases, strict=True)):
            first, last = int(sums.least[c]), int(sums.most[c])
            edges = [round((Fraction(2 * int(rng.integers(-130, 140)) - 1, 2) - b) / u) for _ in range(25)]
            tried = [min(max(e + d, first), last) for e in edges for d in (-2, -1, 0, 1, 2)] + [first, last]
            wanted = [_rounded(u * n + b, -7, -128, 127) for n in tried]
            mine = [k if k.size == 1 else k[c : c + 1] for k in constants]
            np.testing.assert_array_equal(rule.apply(np.array(tried) + int(whole[c]), mine), wanted)


def test_ties_go_to_the_even_result() -> None:
    """Of units that are larger than half a step and have few bits, many sums lie between two results."""
    sums = RealSums([Fraction(3, 2), Fraction(5, 2), Fraction(1, 4)], [Fraction(1, 4), Fraction(1, 2), Fraction(3, 8)],
                    np.full(3, -90), np.full(3, 90))  # fmt: skip
    rule, constants, (whole,) = finer_bias(sums, IntegerTarget(1.0, 3, "int8", *RANGES["int8"]))
    every = np.arange(-90, 91)
    for c, (u, b) in enumerate(zip(sums.units, sums.biases, strict=True)):
        wanted = [_rounded(u * int(n) + b, 3, -128, 127) for n in every]
        mine = [k if k.size == 1 else k[c : c + 1] for k in constants]
        np.testing.assert_array_equal(rule.apply(every + int(whole[c]), mine), wanted)


def test_rules_are_as_short_as_the_sums_allow() -> None:
    """Integers where they do, 32 bits where sums are few, else an offset of the product."""
    target = IntegerTarget(1.0, 0, "int8", *RANGES["int8"])
    few, many = ((np.full(3, -n), np.full(3, n)) for n in (200, 400_000))
    units, biases = [Fraction(1, 4)] * 3, [Fraction(3, 2), Fraction(-9, 4), Fraction(0)]
    rule, (first, _), (whole,) = finer_bias(RealSums(units, biases, *many), target)
    assert rule.kind == "half_even" and first.size == 1 and whole.tolist() == [6, -9, 0]
    units, biases = [Fraction(1000, 1009123)] * 3, [Fraction(5, 7), Fraction(-9, 4), Fraction(1, 3)]
    assert finer_bias(RealSums(units, biases, *few), target)[0].kind in ("pulp", "half_even")
    assert finer_bias(RealSums(units, biases, *many), target)[0].kind == "offset_half_even"
