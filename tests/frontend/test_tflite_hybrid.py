"""TFLite's dynamic-range layers against its reference kernels: floats, within the tolerance of float networks."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import dialect_run, operators
from tests.frontend.single_tflite import Tensor, activation, options_of, reference_run, write
from tests.frontend.test_tflite_operators import Case, Random
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.tflite_file import import_tflite

schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")


def dense(asymmetric: bool) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        depth, columns = int(rng.integers(1, 60)), int(rng.integers(1, 20))
        weight = rng.integers(-127, 128, (columns, depth)).astype(np.int8)
        options = options_of(
            "FullyConnectedOptions", fusedActivationFunction=activation(rng), asymmetricQuantizeInputs=asymmetric
        )
        operands = [
            Tensor((3, depth), "float32"),
            Tensor(weight.shape, "int8", [float(np.exp(rng.uniform(-7, -5)))], 0, weight),
            Tensor((columns,), "float32", data=rng.normal(size=columns).astype(np.float32)),
        ]
        return "FULLY_CONNECTED", operands, Tensor((3, columns), "float32"), options, 9

    return build


def conv(per_channel: bool) -> Callable[[Random], Case]:
    def build(rng: Random) -> Case:
        channels, filters, padding = int(rng.integers(1, 6)), int(rng.integers(2, 6)), int(rng.integers(2))
        weight = rng.integers(-127, 128, (filters, 3, 3, channels)).astype(np.int8)
        scales = np.exp(rng.uniform(-7, -5, filters if per_channel else 1)).astype(np.float32)
        options = options_of(
            "Conv2DOptions", padding=padding, strideH=1, strideW=2, fusedActivationFunction=activation(rng)
        )
        operands = [
            Tensor((2, 6, 7, channels), "float32"),
            Tensor(weight.shape, "int8", scales.tolist(), 0, weight),
            Tensor((filters,), "float32", data=rng.normal(size=filters).astype(np.float32)),
        ]
        size = (6, 4) if padding == schema.Padding.SAME else (4, 3)
        return "CONV_2D", operands, Tensor((2, *size, filters), "float32"), options, 5

    return build


def depthwise(rng: Random) -> Case:
    filters = int(rng.integers(2, 6))
    weight = rng.integers(-127, 128, (1, 3, 3, filters)).astype(np.int8)
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    fused = {"depthMultiplier": 1, "fusedActivationFunction": activation(rng)}
    options = options_of("DepthwiseConv2DOptions", padding=0, strideH=1, strideW=1, **fused)
    operands = [
        Tensor((2, 5, 5, filters), "float32"),
        Tensor(weight.shape, "int8", scales.tolist(), 0, weight, axis=3),
        Tensor((filters,), "float32", data=rng.normal(size=filters).astype(np.float32)),
    ]
    return "DEPTHWISE_CONV_2D", operands, Tensor((2, 5, 5, filters), "float32"), options, 6


CASES: dict[str, tuple[Callable[[Random], Case], str]] = {
    "dense_symmetric": (dense(False), "dense"),
    "dense_asymmetric": (dense(True), "dense"),
    "conv_per_tensor": (conv(False), "conv2d"),
    "conv_per_channel": (conv(True), "conv2d"),
    "depthwise": (depthwise, "conv2d"),
}


def _model(case: str, seed: int, path: Path) -> np.ndarray:
    """Writes the model; its input."""
    rng = np.random.default_rng([seed, *case.encode()])
    op, operands, output, options, version = CASES[case][0](rng)
    write(path, op, operands, output, options, version)
    x = rng.normal(size=operands[0].shape) + rng.normal()
    return np.asarray(x, np.float32) * np.float32(0 if seed == 3 else 1)


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_reference_kernels(case: str, tmp_path: Path) -> None:
    for seed in range(6):
        path = tmp_path / f"{seed}.tflite"
        x = _model(case, seed, path)
        expected = reference_run(path, [x])
        module = canonicalize(import_tflite(path))
        assert CASES[case][1] in operators(module), f"seed {seed}: {operators(module)}"
        (result,) = dialect_run(module, {"x": x})
        assert result.shape == expected.shape
        assert np.abs(result - expected).max() <= 1e-4 * np.abs(expected).max(initial=1e-6), f"seed {seed}"


@pytest.mark.parametrize("case", ["dense_asymmetric", "conv_per_channel"])
def test_equals_the_reference_kernels_on_the_cores(case: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    x = _model(case, 1, path)
    (result,) = tvm_pulp.compile(path, target="uma-neureka").run({"t0": x}).outputs.values()
    expected = reference_run(path, [x])
    assert np.abs(result - expected).max() <= 1e-4 * np.abs(expected).max()
