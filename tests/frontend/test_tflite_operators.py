"""Random int8 TFLite models of one operator against TFLite's reference kernels: equal bit for bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.frontend.quantized_onnx import dialect_run, operators
from tests.frontend.single_tflite import Tensor, activation, options_of, reference_run, write
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.tflite_file import import_tflite

schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")

# Operator, operands, result, options, version.
Case = tuple[str, list[Tensor], Tensor, Any, int]
Random = np.random.Generator


def quantization(rng: Random) -> dict[str, Any]:
    return {"scale": float(np.exp(rng.uniform(-5, -2))), "zero_point": int(rng.integers(-128, 128))}


def bias_of(rng: Random, channels: int, x: dict[str, Any], weight: np.ndarray) -> Tensor:
    data = rng.integers(-3000, 3000, channels).astype(np.int32)
    scale = (np.float32(x["scale"]) * weight.astype(np.float32)).tolist()
    return Tensor((channels,), "int32", scale, 0, data)


def conv(rng: Random) -> Case:
    x, channels, filters, kernel = quantization(rng), *(int(v) for v in rng.integers(1, 6, 3))
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    weight = rng.integers(-127, 128, (filters, kernel, kernel, channels)).astype(np.int8)
    size = kernel + int(rng.integers(1, 8))
    strides = {"strideH": int(rng.integers(1, 3)), "strideW": int(rng.integers(1, 3))}
    padding = int(rng.integers(2))
    out = [-(-size // s) if padding == schema.Padding.SAME else (size - kernel) // s + 1 for s in strides.values()]
    options = options_of("Conv2DOptions", padding=padding, fusedActivationFunction=activation(rng), **strides)
    operands = [
        Tensor((1, size, size, channels), **x),
        Tensor(weight.shape, "int8", scales.tolist(), 0, weight),
        bias_of(rng, filters, x, scales),
    ]
    return "CONV_2D", operands, Tensor((1, *out, filters), **quantization(rng)), options, 3


def depthwise(rng: Random) -> Case:
    x, channels, multiplier = quantization(rng), int(rng.integers(1, 5)), int(rng.integers(1, 3))
    filters, size = channels * multiplier, 5 + int(rng.integers(4))
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    weight = rng.integers(-127, 128, (1, 3, 3, filters)).astype(np.int8)
    options = options_of(
        "DepthwiseConv2DOptions",
        padding=schema.Padding.SAME,
        strideH=1,
        strideW=1,
        depthMultiplier=multiplier,
        fusedActivationFunction=activation(rng),
    )
    operands = [
        Tensor((1, size, size, channels), **x),
        Tensor(weight.shape, "int8", scales.tolist(), 0, weight, axis=3 if filters > 1 else 0),
        bias_of(rng, filters, x, scales),
    ]
    return "DEPTHWISE_CONV_2D", operands, Tensor((1, size, size, filters), **quantization(rng)), options, 3


def dense(rng: Random) -> Case:
    x, depth, columns = quantization(rng), int(rng.integers(1, 60)), int(rng.integers(1, 20))
    scale = np.exp(rng.uniform(-7, -5, 1)).astype(np.float32)
    weight = rng.integers(-127, 128, (columns, depth)).astype(np.int8)
    options = options_of("FullyConnectedOptions", fusedActivationFunction=activation(rng))
    operands = [
        Tensor((3, depth), **x),
        Tensor(weight.shape, "int8", scale.tolist(), 0, weight),
        bias_of(rng, columns, x, scale),
    ]
    return "FULLY_CONNECTED", operands, Tensor((3, columns), **quantization(rng)), options, 4


def binary(op: str, options: str) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        shape = (2, int(rng.integers(1, 7)), int(rng.integers(1, 20)))
        other = shape if rng.random() < 0.6 else (1, 1, shape[2])
        operands = [Tensor(shape, **quantization(rng)), Tensor(other, **quantization(rng))]
        fused = options_of(options, fusedActivationFunction=activation(rng))
        return op, operands, Tensor(shape, **quantization(rng)), fused, 2

    return build


def pool(op: str) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        same, size = quantization(rng), 4 + int(rng.integers(6))
        options = options_of(
            "Pool2DOptions",
            padding=schema.Padding.SAME,
            strideH=2,
            strideW=1,
            filterHeight=3,
            filterWidth=2,
            fusedActivationFunction=activation(rng),
        )
        return op, [Tensor((1, size, size, 3), **same)], Tensor((1, -(-size // 2), size, 3), **same), options, 2

    return build


def softmax(rng: Random) -> Case:
    shape = (4, int(rng.integers(1, 40)))
    out = Tensor(shape, scale=1 / 256, zero_point=-128)
    return "SOFTMAX", [Tensor(shape, **quantization(rng))], out, options_of("SoftmaxOptions", beta=1.0), 2


def unary(op: str, version: int = 2) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        return op, [Tensor((5, 60), **quantization(rng))], Tensor((5, 60), **quantization(rng)), None, version

    return build


def mean(rng: Random) -> Case:
    axes = np.array([1, 2] if rng.random() < 0.5 else [1], np.int32)
    shape = (2, int(rng.integers(1, 9)), int(rng.integers(1, 9)), 5)
    out = tuple(1 if i in axes else d for i, d in enumerate(shape))
    operands = [Tensor(shape, **quantization(rng)), Tensor(axes.shape, "int32", data=axes)]
    return "MEAN", operands, Tensor(out, **quantization(rng)), options_of("ReducerOptions", keepDims=True), 2


def concatenation(rng: Random) -> Case:
    same, sizes = quantization(rng), [int(v) for v in rng.integers(1, 6, 3)]
    operands = [Tensor((2, s), **same) for s in sizes]
    return "CONCATENATION", operands, Tensor((2, sum(sizes)), **same), options_of("ConcatenationOptions", axis=1), 2


def pad(rng: Random) -> Case:
    same, pads = quantization(rng), rng.integers(0, 3, (3, 2)).astype(np.int32)
    shape = tuple(d + int(p.sum()) for d, p in zip((2, 3, 4), pads, strict=True))
    operands = [Tensor((2, 3, 4), **same), Tensor(pads.shape, "int32", data=pads)]
    return "PAD", operands, Tensor(shape, **same), options_of("PadOptions"), 2


def transpose(rng: Random) -> Case:
    same, axes = quantization(rng), np.roll(np.arange(4), int(rng.integers(1, 4))).astype(np.int32)
    shape = (2, 3, 4, 5)
    operands = [Tensor(shape, **same), Tensor((4,), "int32", data=axes)]
    return "TRANSPOSE", operands, Tensor(tuple(shape[a] for a in axes), **same), options_of("TransposeOptions"), 2


def strided_slice(rng: Random) -> Case:
    same = quantization(rng)
    bounds = [Tensor((2,), "int32", data=np.array(v, np.int32)) for v in ([1, 0], [6, 5], [2, 1])]
    return (
        "STRIDED_SLICE",
        [Tensor((6, 5), **same), *bounds],
        Tensor((3, 5), **same),
        options_of("StridedSliceOptions"),
        2,
    )


def logistic(rng: Random) -> Case:
    operand, result = Tensor((5, 60), **quantization(rng)), Tensor((5, 60), scale=1 / 256, zero_point=-128)
    return "LOGISTIC", [operand], result, None, 2


def tanh(rng: Random) -> Case:
    operand, result = Tensor((5, 60), **quantization(rng)), Tensor((5, 60), scale=1 / 128, zero_point=0)
    return "TANH", [operand], result, None, 2


def leaky_relu(rng: Random) -> Case:
    operand, result = (Tensor((5, 60), **quantization(rng)) for _ in range(2))
    return "LEAKY_RELU", [operand], result, options_of("LeakyReluOptions", alpha=float(rng.uniform(0.01, 0.9))), 2


# Builder, and the dialect operator it must become.
CASES: dict[str, tuple[Callable[[Random], Case], str]] = {
    "conv": (conv, "conv2d"),
    "depthwise": (depthwise, "conv2d"),
    "dense": (dense, "dense"),
    "add": (binary("ADD", "AddOptions"), "add"),
    "sub": (binary("SUB", "SubOptions"), "add"),
    "mul": (binary("MUL", "MulOptions"), "mul"),
    "max_pool": (pool("MAX_POOL_2D"), "max_pool"),
    "average_pool": (pool("AVERAGE_POOL_2D"), "avg_pool"),
    "softmax": (softmax, "softmax"),
    "relu": (unary("RELU"), "lookup"),
    "relu6": (unary("RELU6"), "lookup"),
    "quantize": (unary("QUANTIZE"), "lookup"),
    "mean": (mean, "reduce"),
    "concatenation": (concatenation, "concat"),
    "pad": (pad, "pad"),
    "transpose": (transpose, "transpose"),
    "strided_slice": (strided_slice, "slice"),
    "logistic": (logistic, "lookup"),
    "tanh": (tanh, "lookup"),
    "hard_swish": (unary("HARD_SWISH", 1), "lookup"),
    "leaky_relu": (leaky_relu, "lookup"),
}
# Tables hold the float function, rounded once; these reference kernels approximate it in fixed point.
TOLERANCE = {"logistic": 1, "tanh": 1}


SEEDS = [range(8), pytest.param(range(8, 20), marks=pytest.mark.slow)]


@pytest.mark.sample(9)
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_reference_kernels(case: str, seeds: range, tmp_path: Path) -> None:
    build, operator = CASES[case]
    for seed in seeds:
        rng = np.random.default_rng([seed, *case.encode()])
        op, operands, output, options, version = build(rng)
        path = tmp_path / f"{seed}.tflite"
        write(path, op, operands, output, options, version)
        feeds = [rng.integers(-128, 128, t.shape).astype(np.int8) for t in operands if t.data is None]
        expected = reference_run(path, feeds)
        module = canonicalize(import_tflite(path))
        assert operator in operators(module), f"seed {seed}: {operators(module)}"
        (result,) = dialect_run(module, dict(enumerate(feeds)))
        difference = np.abs(result.astype(int) - expected.astype(int))
        assert result.shape == expected.shape
        assert difference.max() <= TOLERANCE.get(case, 0), f"seed {seed}"
