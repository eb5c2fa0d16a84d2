"""Random TFLite models of operators that TVM's importer lacks, against TFLite's reference kernels: bit for bit."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import dialect_run, operators
from tests.frontend.single_tflite import Tensor, activation, options_of, reference_run, write
from tests.frontend.test_tflite_operators import Case, Random, bias_of, quantization
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.tflite_file import import_tflite

schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")


def batch_matmul(rng: Random) -> Case:
    rows, depth, columns = (int(v) for v in rng.integers(1, 12, 3))
    turned = [bool(v) for v in rng.integers(0, 2, 2)]
    batches = [(2, 3), (1, 3), (3,), ()]
    left, right = (batches[int(v)] for v in rng.integers(0, 4, 2))
    a, b = (depth, rows) if turned[0] else (rows, depth), (columns, depth) if turned[1] else (depth, columns)
    data = rng.integers(-128, 128, (*right, *b)).astype(np.int8) if rng.random() < 0.3 else None
    operands = [Tensor((*left, *a), **quantization(rng)), Tensor((*right, *b), **quantization(rng), data=data)]
    result = (*np.broadcast_shapes(left, right), rows, columns)
    options = options_of("BatchMatMulOptions", adjX=turned[0], adjY=turned[1])
    return "BATCH_MATMUL", operands, Tensor(result, **quantization(rng)), options, 2


def transpose_conv(rng: Random) -> Case:
    x, (channels, filters) = quantization(rng), (int(v) for v in rng.integers(1, 6, 2))
    kernel, strides, size = ([int(v) for v in rng.integers(low, high, 2)] for low, high in ((1, 5), (1, 4), (1, 7)))
    padding = int(rng.integers(2))
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    weight = rng.integers(-127, 128, (filters, *kernel, channels)).astype(np.int8)
    if padding == schema.Padding.SAME:
        goal = [n * s - int(rng.integers(s)) for n, s in zip(size, strides, strict=True)]
    else:
        goal = [n * s + max(k - s, 0) for n, s, k in zip(size, strides, kernel, strict=True)]
    wanted = np.array([2, *goal, filters], np.int32)
    options = options_of(
        "TransposeConvOptions",
        padding=padding,
        strideH=strides[0],
        strideW=strides[1],
        fusedActivationFunction=activation(rng),
    )
    operands = [
        Tensor((4,), "int32", data=wanted),
        Tensor(weight.shape, "int8", scales.tolist(), 0, weight),
        Tensor((2, *size, channels), **x),
        bias_of(rng, filters, x, scales),
    ]
    return "TRANSPOSE_CONV", operands, Tensor(tuple(wanted.tolist()), **quantization(rng)), options, 4


def resize_bilinear(rng: Random) -> Case:
    same, channels = quantization(rng), int(rng.integers(1, 6))
    size, goal = ([int(v) for v in rng.integers(1, high, 2)] for high in (8, 17))
    if rng.random() < 0.4:
        goal = [2 * n for n in size]
    kind = int(rng.integers(3))
    options = options_of("ResizeBilinearOptions", alignCorners=kind == 1, halfPixelCenters=kind == 2)
    operands = [Tensor((2, *size, channels), **same), Tensor((2,), "int32", data=np.array(goal, np.int32))]
    return "RESIZE_BILINEAR", operands, Tensor((2, *goal, channels), **same), options, 3


def squared_difference(rng: Random) -> Case:
    shape = tuple(int(v) for v in rng.integers(1, 8, 3))
    other = tuple(1 if rng.random() < 0.3 else n for n in shape)
    operands = [Tensor(shape, **quantization(rng)), Tensor(other, **quantization(rng))]
    return "SQUARED_DIFFERENCE", operands, Tensor(shape, **quantization(rng)), options_of("SquaredDifferenceOptions"), 2


def gelu(rng: Random) -> Case:
    options = options_of("GeluOptions", approximate=bool(rng.integers(2)))
    return "GELU", [Tensor((256,), **quantization(rng))], Tensor((256,), **quantization(rng)), options, 2


def rsqrt(rng: Random) -> Case:
    """Of a byte that is never below its zero point, which the kernel refuses."""
    x = Tensor((256,), scale=float(np.exp(rng.uniform(-9, 0))), zero_point=-128)
    y = Tensor((256,), scale=float(np.exp(rng.uniform(-5, 0))), zero_point=int(rng.integers(-128, 0)))
    return "RSQRT", [x], y, None, 2


def sqrt(rng: Random) -> Case:
    """Of a byte that is never below its zero point, which the kernel refuses; scales that make whole numbers, too."""
    x = Tensor((256,), scale=float(rng.choice([0.01, 0.25, np.exp(rng.uniform(-9, 0))])), zero_point=-128)
    y = Tensor(
        (256,), scale=float(rng.choice([0.1, 0.5, np.exp(rng.uniform(-5, 0))])), zero_point=int(rng.integers(50))
    )
    return "SQRT", [x], y, None, 2


def batches(rng: Random) -> tuple[list[int], list[int], np.ndarray]:
    """Sizes of a picture that blocks divide, the blocks, and what lies around it."""
    places, block = [int(v) for v in rng.integers(1, 5, 2)], [int(rng.integers(2, 4)), int(rng.integers(1, 4))]
    sides = np.array([[(v := int(rng.integers(b))), b - v if v else 0] for b in block], np.int32)
    sizes = [n * b for n, b in zip(places, block, strict=True)]
    return sizes, block, sides


def _moved(rng: Random, kind: str, shape: list[int], result: list[int], block: list[int], sides: np.ndarray) -> Case:
    same = quantization(rng)
    given = [np.array(block, np.int32), sides]
    operands = [Tensor(tuple(shape), **same), *(Tensor(a.shape, "int32", data=a) for a in given)]
    return kind, operands, Tensor(tuple(result), **same), options_of("".join(_words(kind)) + "Options"), 2


def _words(kind: str) -> list[str]:
    return [w if w == "ND" else w.capitalize() for w in kind.split("_")]


def space_to_batch(rng: Random) -> Case:
    sizes, block, sides = batches(rng)
    shape = [2, *(n + b - int(s) for n, b, s in zip(sizes, block, sides.sum(1), strict=True)), 3]
    wide = [n + int(s) for n, s in zip(shape[1:3], sides.sum(1), strict=True)]
    result = [2 * block[0] * block[1], *(n // b for n, b in zip(wide, block, strict=True)), 3]
    return _moved(rng, "SPACE_TO_BATCH_ND", shape, result, block, sides)


def batch_to_space(rng: Random) -> Case:
    sizes, block, sides = batches(rng)
    sizes = [n + b for n, b in zip(sizes, block, strict=True)]  # so that something is left
    shape = [2 * block[0] * block[1], *(n // b for n, b in zip(sizes, block, strict=True)), 3]
    result = [2, *(n - int(s) for n, s in zip(sizes, sides.sum(1), strict=True)), 3]
    return _moved(rng, "BATCH_TO_SPACE_ND", shape, result, block, sides)


# Builder, and the dialect operators it may become.
CASES = {
    "batch_matmul": (batch_matmul, {"matmul", "dense"}),
    "transpose_conv": (transpose_conv, {"conv2d"}),
    "resize_bilinear": (resize_bilinear, {"resize"}),
    "squared_difference": (squared_difference, {"mul"}),
    "gelu": (gelu, {"lookup"}),
    "rsqrt": (rsqrt, {"lookup"}),
    "sqrt": (sqrt, {"lookup"}),
    "space_to_batch": (space_to_batch, {"transpose", "relax.reshape"}),
    "batch_to_space": (batch_to_space, {"transpose", "relax.reshape"}),
}


SEEDS = [range(10), pytest.param(range(10, 40), marks=pytest.mark.slow)]


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_reference_kernels(case: str, seeds: range, tmp_path: Path) -> None:
    build, expected_operators = CASES[case]
    for seed in seeds:
        rng = np.random.default_rng([seed, *case.encode()])
        op, operands, output, options, version = build(rng)
        path = tmp_path / f"{seed}.tflite"
        write(path, op, operands, output, options, version)
        feeds = [rng.integers(-128, 128, t.shape).astype(np.int8) for t in operands if t.data is None]
        expected = reference_run(path, feeds)
        module = canonicalize(import_tflite(path))
        assert expected_operators & set(operators(module)), f"seed {seed}: {operators(module)}"
        (result,) = dialect_run(module, dict(enumerate(feeds)))
        assert result.shape == expected.shape
        assert (result == expected).all(), f"seed {seed}"


@pytest.mark.parametrize("target", [{}, {"target": "c", "soc": "siracusa"}], ids=["host", "siracusa"])
def test_angle_of_floats(tmp_path: Path, target: dict[str, str]) -> None:
    y, x = np.random.default_rng(3).normal(size=(2, 40)).astype(np.float32)
    y[:3], x[:3] = (0, -0.0, 5), (-1, -2, 0)
    path = tmp_path / "angle.tflite"
    write(path, "ATAN2", [Tensor((40,), "float32")] * 2, Tensor((40,), "float32"), None, 1)
    (found,) = tvm_pulp.compile(path, **target).run({"t0": y, "t1": x}).outputs.values()
    np.testing.assert_allclose(found, reference_run(path, [y, x]), rtol=3e-7)
