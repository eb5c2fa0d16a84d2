"""Random TFLite models of REDUCE_PROD against TFLite's reference kernel: bit for bit."""

import math
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import dialect_run, operators
from tests.frontend.single_tflite import Tensor, options_of, reference_run, write
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.tflite_file import import_tflite

pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")


def written(path: Path, seed: int) -> np.ndarray:
    """Writes a model of a few axes, some counted from the end, some named twice; its input."""
    rng = np.random.default_rng([seed, 71])
    dtype = str(rng.choice(["int8", "int8", "int16"]))
    shape = tuple(int(v) for v in rng.integers(1, 6, int(rng.integers(1, 5))))
    axes = [int(a) for a in rng.choice(len(shape), int(rng.integers(1, len(shape) + 1)), replace=False)]
    count, keeps = math.prod(shape[a] for a in axes), bool(rng.integers(2))
    result = [1 if i in axes else d for i, d in enumerate(shape) if keeps or i not in axes]
    stated = [a - len(shape) if rng.random() < 0.3 else a for a in axes]
    stated += axes[:1] if rng.random() < 0.2 else []
    largest = int(np.iinfo(dtype).max)
    scale = float(np.exp(rng.uniform(-1, 1))) / largest
    # Of a size that products of so many numbers have.
    reach = math.exp(min(max(count * math.log(scale * largest * rng.uniform(0.3, 0.7)), -60), 60))
    zero_points = [int(v) for v in rng.integers(-128, 128, 2)] if dtype == "int8" else [0, 0]
    operands = [
        Tensor(shape, dtype, scale, zero_points[0]),
        Tensor((len(stated),), "int32", data=np.array(stated, np.int32)),
    ]
    output = Tensor(tuple(result), dtype, reach / largest, zero_points[1])
    write(path, "REDUCE_PROD", operands, output, options_of("ReducerOptions", keepDims=keeps), 2)
    return rng.integers(-largest - 1, largest + 1, shape).astype(dtype)


@pytest.mark.sample(2)
@pytest.mark.parametrize("block", range(8))
def test_equals_the_reference_kernel(block: int, tmp_path: Path) -> None:
    inside = 0
    for seed in range(10 * block, 10 * block + 10):
        path = tmp_path / f"{seed}.tflite"
        x = written(path, seed)
        expected = reference_run(path, [x])
        module = canonicalize(import_tflite(path))
        assert operators(module) == {"product"}, f"seed {seed}"
        (result,) = dialect_run(module, {0: x})
        assert result.shape == expected.shape
        assert (result == expected).all(), f"seed {seed}"
        inside += int(np.unique(expected).size > 2)
    assert inside  # some results are neither zero nor at an end of the range


@pytest.mark.parametrize("target", [{}, {"target": "c", "soc": "siracusa"}], ids=["host", "siracusa"])
def test_equals_the_reference_kernel_in_c(target: dict[str, str], tmp_path: Path) -> None:
    path, x = tmp_path / "product.tflite", np.random.default_rng(1).integers(-128, 128, (4, 3, 6, 2)).astype(np.int8)
    axes = Tensor((2,), "int32", data=np.array([1, 3], np.int32))
    operands = [Tensor(x.shape, "int8", 0.02, -9), axes]
    write(path, "REDUCE_PROD", operands, Tensor((4, 6), "int8", 0.01, 17), options_of("ReducerOptions"), 2)
    (found,) = tvm_pulp.compile(path, **target).run({"t0": x}).outputs.values()
    np.testing.assert_array_equal(found, reference_run(path, [x]))
