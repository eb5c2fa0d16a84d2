"""Random TFLite models of one operator on 16-bit activations against TFLite's reference kernels: bit for bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import dialect_run, operators
from tests.frontend.single_tflite import Tensor, activation, options_of, reference_run, write
from tests.frontend.test_tflite_operators import Case, Random
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.tflite_file import import_tflite

schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")


def _quantization(rng: Random) -> dict[str, Any]:
    return {"dtype": "int16", "scale": float(np.exp(rng.uniform(-11, -7)))}


def _bias(rng: Random, channels: int, x: dict[str, Any], weight: np.ndarray, dtype: str = "int64") -> Tensor:
    scale = (np.float32(x["scale"]) * weight.astype(np.float32)).tolist()
    return Tensor((channels,), dtype, scale, 0, rng.integers(-300000, 300000, channels).astype(dtype))


def conv(rng: Random) -> Case:
    x, (channels, filters) = _quantization(rng), (int(v) for v in rng.integers(1, 6, 2))
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    weight = rng.integers(-127, 128, (filters, 3, 3, channels)).astype(np.int8)
    options = options_of("Conv2DOptions", padding=0, strideH=1, strideW=2, fusedActivationFunction=activation(rng))
    operands = [
        Tensor((1, 6, 6, channels), **x),
        Tensor(weight.shape, "int8", scales.tolist(), 0, weight),
        _bias(rng, filters, x, scales),
    ]
    return "CONV_2D", operands, Tensor((1, 6, 3, filters), **_quantization(rng)), options, 4


def depthwise(rng: Random) -> Case:
    x, filters = _quantization(rng), int(rng.integers(2, 6))
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    weight = rng.integers(-127, 128, (1, 3, 3, filters)).astype(np.int8)
    fused = {"depthMultiplier": 1, "fusedActivationFunction": activation(rng)}
    options = options_of("DepthwiseConv2DOptions", padding=0, strideH=1, strideW=1, **fused)
    operands = [
        Tensor((1, 5, 5, filters), **x),
        Tensor(weight.shape, "int8", scales.tolist(), 0, weight, axis=3),
        _bias(rng, filters, x, scales),
    ]
    return "DEPTHWISE_CONV_2D", operands, Tensor((1, 5, 5, filters), **_quantization(rng)), options, 5


def transpose_conv(rng: Random) -> Case:
    x, (channels, filters) = _quantization(rng), (int(v) for v in rng.integers(1, 6, 2))
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    weight = rng.integers(-127, 128, (filters, 3, 3, channels)).astype(np.int8)
    options = options_of("TransposeConvOptions", padding=0, strideH=2, strideW=2)
    wanted = np.array([1, 8, 8, filters], np.int32)
    operands = [
        Tensor((4,), "int32", data=wanted),
        Tensor(weight.shape, "int8", scales.tolist(), 0, weight),
        Tensor((1, 4, 4, channels), **x),
        _bias(rng, filters, x, scales),
    ]
    return "TRANSPOSE_CONV", operands, Tensor((1, 8, 8, filters), **_quantization(rng)), options, 4


def _dense(rng: Random, depth: int) -> Case:
    x, columns = _quantization(rng), int(rng.integers(1, 20))
    scale = np.exp(rng.uniform(-7, -5, 1)).astype(np.float32)
    weight = rng.integers(-127, 128, (columns, depth)).astype(np.int8)
    options = options_of("FullyConnectedOptions", fusedActivationFunction=activation(rng))
    operands = [
        Tensor((3, depth), **x),
        Tensor(weight.shape, "int8", scale.tolist(), 0, weight),
        _bias(rng, columns, x, scale),
    ]
    return "FULLY_CONNECTED", operands, Tensor((3, columns), **_quantization(rng)), options, 7


def dense(rng: Random) -> Case:
    return _dense(rng, int(rng.integers(1, 60)))


def deep_dense(rng: Random) -> Case:
    """Sums that 32 bits cannot hold; inputs that follow the weights' signs make them large."""
    op, (x, weight, bias), y, _, version = _dense(rng, 3000)
    assert isinstance(weight.scale, list) and isinstance(x.scale, float) and weight.data is not None
    y = Tensor(y.shape, "int16", x.scale * weight.scale[0] * 1.6e5)
    return op, [x, weight, bias], y, options_of("FullyConnectedOptions"), version


def batch_matmul(rng: Random) -> Case:
    rows, depth, columns = (int(v) for v in rng.integers(1, 12, 3))
    operands = [Tensor((2, rows, depth), **_quantization(rng)), Tensor((2, depth, columns), **_quantization(rng))]
    return (
        "BATCH_MATMUL",
        operands,
        Tensor((2, rows, columns), **_quantization(rng)),
        options_of("BatchMatMulOptions"),
        4,
    )


def binary(op: str, kind: str, version: int, **fixed: Any) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        shape = (2, int(rng.integers(1, 7)), int(rng.integers(1, 20)))
        other = shape if rng.random() < 0.6 else (1, 1, shape[2])
        operands = [Tensor(shape, **_quantization(rng)), Tensor(other, **_quantization(rng))]
        options = options_of(kind, fusedActivationFunction=activation(rng), **fixed)
        return op, operands, Tensor(shape, **_quantization(rng)), options, version

    return build


def pool(op: str) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        same, size = _quantization(rng), 4 + int(rng.integers(6))
        window = {"padding": 0, "strideH": 2, "strideW": 1, "filterHeight": 3, "filterWidth": 2}
        options = options_of("Pool2DOptions", **window, fusedActivationFunction=activation(rng))
        return op, [Tensor((1, size, size, 3), **same)], Tensor((1, -(-size // 2), size, 3), **same), options, 3

    return build


def quantize(rng: Random) -> Case:
    return "QUANTIZE", [Tensor((5, 60), **_quantization(rng))], Tensor((5, 60), **_quantization(rng)), None, 2


def softmax(rng: Random) -> Case:
    shape = (4, int(rng.integers(2, 40)))
    x, y = Tensor(shape, "int16", float(np.exp(rng.uniform(-11, -6)))), Tensor(shape, "int16", 1 / 32768)
    return "SOFTMAX", [x], y, options_of("SoftmaxOptions", beta=float(rng.choice([1.0, 0.5]))), 3


def curve(op: str) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        scale = 1 / 4096 if rng.random() < 0.3 else float(np.exp(rng.uniform(-10, -7)))
        return op, [Tensor((8, 400), "int16", scale)], Tensor((8, 400), "int16", 1 / 32768), None, 3

    return build


# Builder, and the dialect operator it must become.
CASES: dict[str, tuple[Callable[[Random], Case], str]] = {
    "conv": (conv, "conv2d"),
    "depthwise": (depthwise, "conv2d"),
    "transpose_conv": (transpose_conv, "conv2d"),
    "dense": (dense, "dense"),
    "deep_dense": (deep_dense, "dense"),
    "batch_matmul": (batch_matmul, "matmul"),
    "add": (binary("ADD", "AddOptions", 5, potScaleInt16=False), "add"),
    "sub": (binary("SUB", "SubOptions", 5, potScaleInt16=False), "add"),
    "mul": (binary("MUL", "MulOptions", 5), "mul"),
    "max_pool": (pool("MAX_POOL_2D"), "max_pool"),
    "average_pool": (pool("AVERAGE_POOL_2D"), "avg_pool"),
    "quantize": (quantize, "requantize"),
    "softmax": (softmax, "softmax"),
    "logistic": (curve("LOGISTIC"), "curve"),
    "tanh": (curve("TANH"), "curve"),
}


def _model(case: str, seed: int, path: Path) -> list[np.ndarray]:
    """Writes the model; its inputs."""
    rng = np.random.default_rng([seed, *case.encode()])
    op, operands, output, options, version = CASES[case][0](rng)
    write(path, op, operands, output, options, version)
    if case == "deep_dense" and operands[1].data is not None:
        return [np.where(operands[1].data[:1] > 0, 32767, -32768).astype(np.int16).repeat(3, axis=0)]
    return [rng.integers(-32768, 32768, t.shape).astype(np.int16) for t in operands if t.data is None]


SEEDS = [range(8), pytest.param(range(8, 20), marks=pytest.mark.slow)]


@pytest.mark.sample(7)
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_reference_kernels(case: str, seeds: range, tmp_path: Path) -> None:
    operator = CASES[case][1]
    for seed in seeds:
        path = tmp_path / f"{seed}.tflite"
        feeds = _model(case, seed, path)
        expected = reference_run(path, feeds)
        module = canonicalize(import_tflite(path))
        assert operator in operators(module), f"seed {seed}: {operators(module)}"
        (result,) = dialect_run(module, dict(enumerate(feeds)))
        assert result.shape == expected.shape
        assert (result == expected).all(), f"seed {seed}"


@pytest.mark.parametrize("case", ["conv", "deep_dense", "softmax", "tanh"])
def test_equals_the_reference_kernels_on_the_cores(case: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    feeds = _model(case, 1, path)
    app = tvm_pulp.compile(path, target="c", soc="siracusa")
    (result,) = app.run({f"t{i}": feed for i, feed in enumerate(feeds)}).outputs.values()
    assert (result == reference_run(path, feeds)).all()
