"""The PULP dialect's operators against formulas written down here once more, and the messages for bad graphs."""

import gc
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.frontend.dialect_models import imported, model, run
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_dialect import CONVERTERS, PRIVATE

RNG = np.random.default_rng(7)
BYTES = np.arange(-128, 128).astype(np.int8).reshape(1, 256)


def requant(x: np.ndarray, mul: int, add: int, div: int, low: int, high: int) -> np.ndarray:
    return np.clip(np.floor((x.astype(np.float64) * mul + add) / div + 0.5), low, high)


@pytest.mark.parametrize(("signed", "low", "high"), [(1, -128, 127), (0, 0, 255)])
@pytest.mark.parametrize("levels", ["n_levels", "n_levels_out"])
def test_requant_shift(signed: int, low: int, high: int, levels: str) -> None:
    graph = model(
        "RequantShift", {"x": (1, 256)}, [np.array(37), np.array(-50)], div=16, signed=signed, **{levels: 256}
    )
    result = run(graph, BYTES)
    assert result.dtype == ("int8" if signed else "uint8")
    np.testing.assert_array_equal(result, requant(BYTES, 37, -50, 16, low, high))


def test_requant_shift_along_channels() -> None:
    x = RNG.integers(-128, 128, (1, 3, 2, 5)).astype(np.int8)
    mul = np.array([1, -2, 30]).reshape(3, 1, 1)
    graph = model("RequantShift", {"x": x.shape}, [mul, np.zeros(1)], div=8, signed=1, n_levels=256)
    expected = np.stack([requant(x[:, c], int(mul[c, 0, 0]), 0, 8, -128, 127) for c in range(3)], axis=1)
    np.testing.assert_array_equal(run(graph, x), expected)


def test_i_gelu() -> None:
    graph = model("iGELU", {"x": (1, 256)}, b=-60, one=4000)
    x = BYTES.astype(np.int64)
    d = np.minimum(np.abs(x), 60) - 60
    np.testing.assert_array_equal(run(graph, BYTES), x * ((4000 + np.sign(x) * (4000 - d * d)) // 2))


def test_i_hardswish() -> None:
    graph = model("iHardswish", {"x": (1, 256)}, one_over_six=3, three=48, six=96)
    x = BYTES.astype(np.int64)
    np.testing.assert_array_equal(run(graph, BYTES), x * np.clip(x + 48, 0, 96) * 3)


def test_true_integer_div_floors() -> None:
    graph = model("TrueIntegerDiv", {"x": (1, 256)}, Delta=16384, y=2, eps=1, eta=200000)
    exact = [(int(v) * 16384 * 200000) // 400001 for v in BYTES.reshape(-1)]
    np.testing.assert_array_equal(run(graph, BYTES).reshape(-1), exact)


@pytest.mark.parametrize("operator", ["IntegerMean", "ReduceMean"])
def test_mean_rounds_half_up(operator: str) -> None:
    x = np.array([[-3, -2], [-1, 0], [1, 0], [2, 3]], np.int8)
    result = run(model(operator, {"x": x.shape}, axes=[1], keepdims=0), x)
    np.testing.assert_array_equal(result, [-2, 0, 1, 3])
    assert result.dtype == np.int8


def test_softmax_forms_are_unsigned() -> None:
    x = RNG.integers(-128, 128, (2, 9)).astype(np.int8)
    polynomial = run(model("iSoftmax", {"x": x.shape}, coeffA=1, coeffB=60, coeffC=2000, log2=30, n_levels=256), x)
    for result in (polynomial, run(model("ITAMax", {"x": x.shape}, n_levels=256), x)):
        assert result.dtype == np.uint8
        # A softmax: ordered like its input, a row sums to about all levels.
        np.testing.assert_array_equal(np.argmax(result, -1), np.argmax(x, -1))
        assert (np.abs(result.astype(int).sum(-1) - 255) < 40).all()


def test_input_types_are_stated_declared_or_guessed() -> None:
    graph = model("iGELU", {"x": (1, 4)}, b=-60, one=4000)
    assert imported(graph).inferred_inputs == ("x",)
    assert str(imported(graph).module["main"].params[0].ty.dtype) == "int8"
    assert str(imported(graph, x="uint8").module["main"].params[0].ty.dtype) == "uint8"
    declared = model("iGELU", {"x": (1, 4)}, element=TensorProto.UINT8, b=-60, one=4000)
    assert imported(declared).inferred_inputs == ()
    assert str(imported(declared).module["main"].params[0].ty.dtype) == "uint8"


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (model("RequantShift", {"x": (4,)}, [np.ones(1)] * 2, div=12, signed=1, n_levels=256), "not a power of two"),
        (model("RequantShift", {"x": (4,)}, [np.ones(1)] * 2, div=8, signed=1), "lacks the attribute 'n_levels'"),
        (model("RequantShift", {"x": (4,)}, [np.ones(3)] * 2, div=8, signed=1, n_levels=256), "neither per tensor"),
        (model("RequantShift", {"x": (4,)}, [np.full(1, 0.5)] * 2, div=8, signed=1, n_levels=256), "holds fractions"),
        (model("iGELU", {"x": (4,)}, b=-60.5, one=4), "not an integer"),
        (model("iGELU", {"x": ("n", 4)}, b=-60, one=4), "--input-shapes"),
        (model("iSoftmax", {"x": (4,)}, coeffA=1, coeffB=9000, coeffC=1, log2=30, n_levels=256), "exceed 32 bits"),
        (model("iSoftmax", {"x": (4,)}, coeffA=1, coeffB=9, coeffC=1, log2=0, n_levels=256), "log2 0"),
        (model("iRMSNorm", {"x": (200_000,)}, [np.ones(200_000)], D=8, n_levels=256), "exceed 32 bits"),
        (model("iRMSNorm", {"x": (4,)}, [np.ones(4)], D=9, n_levels=256), "not a power of two"),
        (model("TrueIntegerDiv", {"x": (4,)}, Delta=1, y=0, eps=0, eta=1), "is zero"),
        (model("IntegerDiv", {"a": (4,), "b": (4,)}, Delta=1, eps=0, eta=1), "can be zero"),
        (model("IntegerDiv", {"a": (4,), "b": (4,)}, Delta=1, eps=6, eta=2), "can be zero"),
    ],
    ids=lambda value: None if not isinstance(value, str) else value,
)
def test_bad_graphs_are_explained(graph: Any, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=expected) as raised:
        imported(graph)
    assert "\n" not in str(raised.value)
    del raised
    gc.collect()  # a block builder of the framework speaks when it dies
    assert capfd.readouterr().err == ""


def test_division_that_cannot_fail_is_accepted() -> None:
    a, b = RNG.integers(-128, 128, 50).astype(np.int8), RNG.integers(0, 256, 50).astype(np.uint8)
    result = run(model("IntegerDiv", {"a": (50,), "b": (50,)}, Delta=64, eps=1, eta=2), a, b)
    ideal = a.astype(float) * 128 / (b.astype(float) * 2 + 1)
    assert np.abs(result - ideal).max() <= 0.5


def test_every_private_operator_has_a_converter() -> None:
    assert set(CONVERTERS) >= PRIVATE
