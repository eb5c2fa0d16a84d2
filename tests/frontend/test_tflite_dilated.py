"""Convolutions with gaps that a TFLite file writes as batches, and sizes that it computes from shapes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.frontend.quantized_onnx import dialect_run, operators
from tests.frontend.single_tflite import Operation, Tensor, options_of, reference_run, write_graph
from tests.frontend.test_tflite_operators import Random, bias_of, quantization
from tvm_pulp import qnn
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.tflite_file import import_tflite
from tvm_pulp.qnn import lineage

schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")
WINDOW: dict[str, Any] = {"strideH": 1, "strideW": 1, "padding": schema.Padding.VALID}


def given(values: Any) -> Tensor:
    array = np.array(values, np.int32)
    return Tensor(array.shape, "int32", data=array)


def chain(path: Path, rng: Random, *, kind: str, line: bool, read_twice: bool = False) -> tuple[int, ...]:
    """SPACE_TO_BATCH_ND, a convolution, BATCH_TO_SPACE_ND; a line of numbers is a picture of one row in between."""
    block = [1, int(rng.integers(2, 4))] if line else [int(v) for v in rng.integers(2, 4, 2)]
    crops = np.array([[0, int(rng.integers(0, b))] for b in block])
    # What lies around it is a picture's own padding and what fills the last block.
    before, size = rng.integers(0, 3, 2), rng.integers(9, 14, 2)
    if line:
        before[0], size[0], crops[0] = 0, 1, 0
    kernel = [1 if line else int(rng.integers(2, 4)), int(rng.integers(2, 4))]
    after = crops[:, 1] + -(size + before + crops[:, 1]) % block
    wide = (size + before + after) // block
    thin = wide - np.array(kernel) + 1
    out = thin * block - crops.sum(1)
    x, y = quantization(rng), quantization(rng)
    channels, filters = (3, 3) if kind == "DEPTHWISE_CONV_2D" else (3, 4)
    scales = np.exp(rng.uniform(-7, -5, filters)).astype(np.float32)
    shape = (1, *kernel, filters) if kind == "DEPTHWISE_CONV_2D" else (filters, *kernel, channels)
    weight = rng.integers(-127, 128, shape).astype(np.int8)
    batches = block[0] * block[1]
    axes = [1] if line else [0, 1]
    sizes = [[int(n[a]) for a in axes] for n in (size, wide, thin, out)]
    source = (1, *sizes[0], channels)
    pads = np.stack([before, after], axis=1)
    tensors = [
        Tensor(source, **x), given([block[a] for a in axes]), given([pads[a] for a in axes]),
        given([crops[a] for a in axes]), Tensor((batches, *sizes[1], channels), **x),
        Tensor(shape, "int8", scales.tolist(), 0, weight, axis=3 if kind == "DEPTHWISE_CONV_2D" else 0),
        bias_of(rng, filters, x, scales), Tensor((batches, *(int(v) for v in thin), filters), **y),
        Tensor((1, *sizes[3], filters), **y),
    ]  # fmt: skip
    options = options_of(
        "Conv2DOptions" if kind == "CONV_2D" else "DepthwiseConv2DOptions", **WINDOW,
        **({} if kind == "CONV_2D" else {"depthMultiplier": 1}),
    )  # fmt: skip
    operations = [Operation("SPACE_TO_BATCH_ND", [0, 1, 2], [4], options_of("SpaceToBatchNDOptions"))]
    read, made = 4, 7
    if line:
        row, thin_line = (batches, 1, *sizes[1], channels), (batches, *sizes[2], filters)
        tensors += [given(1), Tensor(row, **x), given(thin_line), Tensor(thin_line, **y)]
        operations.append(Operation("EXPAND_DIMS", [4, 9], [10], options_of("ExpandDimsOptions"), 1))
        read, made = 10, 12
    operations.append(Operation(kind, [read, 5, 6], [7], options, 3))
    if line:
        operations.append(Operation("RESHAPE", [7, 11], [12], options_of("ReshapeOptions"), 1))
    operations.append(Operation("BATCH_TO_SPACE_ND", [made, 1, 3], [8], options_of("BatchToSpaceNDOptions")))
    write_graph(path, tensors, operations, [0], [8, 4] if read_twice else [8])
    return source


@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D"])
@pytest.mark.parametrize("line", [False, True])
def test_a_convolution_with_gaps(kind: str, line: bool, tmp_path: Path) -> None:
    for seed in range(6):
        rng, path = np.random.default_rng([seed, line, *kind.encode()]), tmp_path / f"{seed}.tflite"
        x = rng.integers(-128, 128, chain(path, rng, kind=kind, line=line)).astype(np.int8)
        module = canonicalize(import_tflite(path))
        layers = [b.value for b in lineage.bindings_of(module["main"]) if qnn.is_qnn(b.value, "conv2d")]
        assert (
            len(layers) == 1 and max(qnn.attributes(layers[0])["dilation"]) > 1 and "transpose" not in operators(module)
        )
        (found,) = dialect_run(module, {"x": x})
        assert np.array_equal(found, reference_run(path, [x])), f"seed {seed}"


def test_batches_that_somebody_else_reads_stay(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "net.tflite"
    x = rng.integers(-128, 128, chain(path, rng, kind="CONV_2D", line=False, read_twice=True)).astype(np.int8)
    module = canonicalize(import_tflite(path))
    assert "transpose" in operators(module)
    assert np.array_equal(dialect_run(module, {"x": x})[0], reference_run(path, [x]))


def test_sizes_that_follow_from_shapes(tmp_path: Path) -> None:
    """A reshape whose goal is picked, multiplied and joined from the shape of its operand."""
    same, path = {"scale": 0.5, "zero_point": 3}, tmp_path / "net.tflite"
    sizes = [Tensor(shape, "int32") for shape in ((3,), (2,), (), (), (2,))]
    tensors = [Tensor((2, 3, 4), **same), Tensor((6, 4), **same), *sizes]
    tensors += [given(v) for v in ([0, 1], [0], [2], [3], [1])]
    shape, pair, product, single, goal, first_two, first, last, end, step = range(2, 12)
    reduced, gathered = options_of("ReducerOptions"), options_of("GatherOptions")
    sliced = options_of("StridedSliceOptions", shrinkAxisMask=1)
    operations = [
        Operation("SHAPE", [0], [shape], options_of("ShapeOptions", outType=schema.TensorType.INT32), 1),
        Operation("GATHER", [shape, first_two], [pair], gathered, 1),
        Operation("REDUCE_PROD", [pair, first], [product], reduced, 1),
        Operation("STRIDED_SLICE", [shape, last, end, step], [single], sliced, 1),
        Operation("PACK", [product, single], [goal], options_of("PackOptions", valuesCount=2), 1),
        Operation("RESHAPE", [0, goal], [1], options_of("ReshapeOptions"), 1),
    ]
    write_graph(path, tensors, operations, [0], [1])
    x = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    module = canonicalize(import_tflite(path))
    assert operators(module) <= {"relax.reshape"}
    assert np.array_equal(dialect_run(module, {"x": x})[0], reference_run(path, [x]))
