"""Products with constant weights on engines that run whole heads: every position sees itself alone."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.uma_backends.ita import reference
from tvm_pulp.codegen.mlf import read_plan
from tvm_pulp.frontend.zoo import tensor_wise
from tvm_pulp.frontend.zoo.builder import Builder
from tvm_pulp.uma.conformance import Conformance
from tvm_pulp.uma.conformance.random_layer import PER_TENSOR
from uma_backends.ita.head_backend import HeadBackend
from uma_backends.ita.head_linear import _LOGITS, _VALUES, codes
from uma_backends.ita.reference import ItaRequantization

from .head_reference import requantize, softmax
from .networks import engines, rule, run_on_ita


def test_positions_see_themselves_alone() -> None:
    """Probabilities are one number on the diagonal, and values of all bytes come out as they went in."""
    rows = codes().astype(np.int64)
    logits = requantize(rows @ rows.T, (_LOGITS.multiplier, _LOGITS.shift, _LOGITS.add))
    np.testing.assert_array_equal(softmax(logits), 101 * np.eye(64))
    every = np.arange(-128, 128)
    np.testing.assert_array_equal(requantize(101 * every, (_VALUES.multiplier, _VALUES.shift, _VALUES.add)), every)


# Rows, depth, columns: one engine, four with several tiles of columns each, rows in several tiles, odd numbers of
# rows, more columns than four engines take at once.
SHAPES = [(64, 128, 512), (64, 64, 64), (7, 16, 48), (130, 192, 144), (64, 32, 336), (64, 512, 128)]


@pytest.mark.parametrize("shape", [pytest.param(s, marks=[] if s[1] < 100 else [pytest.mark.slow]) for s in SHAPES])
@pytest.mark.parametrize("low", [-128, 0])
def test_products_with_constants(shape: tuple[int, int, int], low: int) -> None:
    """With a bias; clipped at zero the rest of the range is not lost."""
    rows, depth, columns = shape
    random = np.random.default_rng(rows + columns)
    x = random.integers(-128, 128, (1, rows, depth)).astype(np.int8)
    weights = random.integers(-127, 128, (columns, depth)).astype(np.int8)
    bias = random.integers(-9000, 9000, columns).astype(np.int32)
    told = ItaRequantization(200, 14 + int(np.log2(depth) / 2), 5)

    def define(emit, inputs):  # type: ignore[no-untyped-def]
        attributes, operands = rule(told.multiplier, told.shift, told.add, low=low)
        return emit("dense", [inputs[0], weights, bias, *operands], {"zero_point": 0, "has_bias": 1, **attributes})

    run = run_on_ita({"x": x}, define, "itapool")
    expected = np.maximum(reference.linear(x[0], weights.T, bias, told), low)
    np.testing.assert_array_equal(run.outputs[0][0], expected)
    assert engines(run) == {"dense": "ita"}
    assert len(np.unique(expected)) > 60


@pytest.mark.slow
def test_backend_conforms() -> None:
    Conformance(HeadBackend(), kinds=("dense",), requantizations=PER_TENSOR, types=("int8",), layers=10).check()


def test_operands_that_l2_has_no_room_for_stay_on_the_cores(tmp_path: Path) -> None:
    """Matrices that only hand values on make constants five times as large: the smaller layer's still fit."""
    builder, path = Builder("linear", 1), tmp_path / "linear.onnx"
    x = builder.input("x", [np.random.default_rng(1).integers(-128, 128, (1, 64, 64)).astype(np.int8)])
    builder.output(tensor_wise.linear(builder, "narrow", tensor_wise.linear(builder, "wide", x, 256), 64))
    onnx.save(builder.model(), path)

    def engines_with(**options: int) -> list[str]:
        plan = read_plan(tvm_pulp.compile(path, target="uma-ita", soc="itapool", planner="greedy", **options).files)
        assert plan is not None
        return [layer.engine for layer in plan.layers]

    assert engines_with() == ["ita", "ita"]
    assert engines_with(l2=200_000) == ["cluster", "ita"]
    assert engines_with(l2=60_000) == ["cluster", "cluster"]
