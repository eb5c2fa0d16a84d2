"""TFLite layers with a sum behind them on the arrays: results on both sides of zero, those of the reference kernels."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.single_tflite import Operation, Tensor, options_of, reference_run, write_graph

SIZE, CHANNELS = 7, 12


def residual(path: Path, rng: np.random.Generator, kind: str) -> tuple[int, ...]:
    """A layer, and the sum of its result and its input; scales of weights differ by channel in a convolution."""
    is_conv = kind == "CONV_2D"
    shape = (1, SIZE, SIZE, CHANNELS) if is_conv else (1, 40, CHANNELS)
    filters = (CHANNELS, 3, 3, CHANNELS) if is_conv else (CHANNELS, CHANNELS)
    given = {"scale": 0.02, "zero_point": int(rng.integers(-20, 20))}
    scales = np.exp(rng.uniform(-6, -5, CHANNELS if is_conv else 1)).astype(np.float32)
    weights = rng.integers(-127, 128, filters).astype(np.int8)
    bias = rng.integers(-2000, 2000, CHANNELS).astype(np.int32)
    tensors = [
        Tensor(shape, **given),
        Tensor(filters, "int8", scales.tolist(), 0, weights),
        Tensor(bias.shape, "int32", (scales * np.float32(0.02)).tolist(), 0, bias),
        Tensor(shape, scale=0.05, zero_point=int(rng.integers(-20, 20))),
        Tensor(shape, scale=0.055, zero_point=int(rng.integers(-20, 20))),
    ]
    if is_conv:
        options = options_of("Conv2DOptions", padding=0, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1)
    else:
        options = options_of("FullyConnectedOptions", keepNumDims=True)
    layer = Operation(kind, [0, 1, 2], [3], options, 3 if is_conv else 5)
    write_graph(path, tensors, [layer, Operation("ADD", [3, 0], [4], options_of("AddOptions"), 2)], [0], [4])
    return shape


def check(kind: str, target: str, seed: int, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Forms by operators, and names of constants; the results of two inferences are compared."""
    rng = np.random.default_rng(seed)
    shape = residual(folder / "net.tflite", rng, kind)
    app = tvm_pulp.compile(folder / "net.tflite", target, planner="greedy")
    x = rng.integers(-128, 128, shape).astype(np.int8)
    expected = reference_run(folder / "net.tflite", [x])
    assert expected.min() < -40 and expected.max() > 40
    result = app.run([x], repeat=2)
    np.testing.assert_array_equal(next(iter(result.outputs.values())), expected)
    forms = {layer["op"]: layer["form"] for layer in result.report["layers"]}
    return forms, [constant.name for constant in app.plan.record.constants]


def test_a_convolution_rounds_away_from_zero(tmp_path: Path) -> None:
    """The array multiplies: what it leaves to the cores has no factor of its own."""
    _, constants = check("CONV_2D", "uma-neureka", 1, tmp_path)
    assert any(name.endswith("_rest_summand") for name in constants), constants


@pytest.mark.slow
def test_a_linear_layer_is_summed_while_it_is_rounded(tmp_path: Path) -> None:
    forms, _ = check("FULLY_CONNECTED", "uma-neureka", 0, tmp_path)
    assert forms["dense+add"].endswith("summed"), forms


@pytest.mark.slow
@pytest.mark.parametrize("target", ["uma-neureka", "uma-ne16"])
@pytest.mark.parametrize("kind", ["CONV_2D", "FULLY_CONNECTED"])
@pytest.mark.parametrize("seed", range(4))
def test_more_of_them(kind: str, target: str, seed: int, tmp_path: Path) -> None:
    check(kind, target, 10 + seed, tmp_path)
