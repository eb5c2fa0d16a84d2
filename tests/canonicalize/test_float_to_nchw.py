"""Float pictures of TFLite files: channels second inside, one transpose at the way in, and the same results."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.single_tflite import Operation, Tensor, options_of, reference_run, write_graph
from tvm_pulp import qnn
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.tflite_file import import_tflite
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.operator import relax_name

schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")
SAME, VALID = schema.Padding.SAME, schema.Padding.VALID
WINDOW: dict[str, Any] = {"strideH": 1, "strideW": 1}
POOL: dict[str, Any] = {"strideH": 2, "strideW": 1, "filterHeight": 2, "filterWidth": 3, "padding": VALID}


def picture(path: Path, *, is_reduced: bool) -> None:
    """Convolutions of three kinds, pools, padding, a sum with a number for each channel, and two parts side by side."""
    random = np.random.default_rng(3)

    def held(*shape: int) -> Tensor:
        return Tensor(shape, "float32", data=random.normal(size=shape).astype(np.float32))

    def given(*values: Any) -> Tensor:
        array = np.array(values, np.int32)
        return Tensor(array.shape, "int32", data=array)

    relu = schema.ActivationFunctionType.RELU
    tensors = {
        "x": Tensor((1, 9, 7, 3), "float32"),
        "filters": held(4, 3, 2, 3), "bias": held(4), "a": Tensor((1, 9, 7, 4), "float32"),
        "deep": held(1, 3, 3, 8), "deep_bias": held(8), "b": Tensor((1, 5, 4, 8), "float32"),
        "sides": given([0, 0], [1, 0], [0, 2], [0, 0]), "c": Tensor((1, 6, 6, 8), "float32"),
        "d": Tensor((1, 3, 4, 8), "float32"), "e": Tensor((1, 3, 4, 8), "float32"),
        "factors": held(8), "f": Tensor((1, 3, 4, 8), "float32"), "g": Tensor((1, 3, 4, 16), "float32"),
        "size": given(1, 6, 8, 5), "wide": held(5, 2, 2, 16), "h": Tensor((1, 6, 8, 5), "float32"),
        "axes": given(1, 2), "mean": Tensor((1, 5), "float32"),
    }  # fmt: skip
    place = {name: index for index, name in enumerate(tensors)}
    strided = {"strideH": 2, "strideW": 2, "padding": SAME, "depthMultiplier": 2}
    concatenated = options_of("ConcatenationOptions", axis=3)
    steps = [
        ("CONV_2D", "x filters bias", "a", options_of("Conv2DOptions", **WINDOW, fusedActivationFunction=relu), 1),
        ("DEPTHWISE_CONV_2D", "a deep deep_bias", "b", options_of("DepthwiseConv2DOptions", **strided), 1),
        ("PAD", "b sides", "c", options_of("PadOptions"), 1),
        ("MAX_POOL_2D", "c", "d", options_of("Pool2DOptions", **POOL), 1),
        ("AVERAGE_POOL_2D", "c", "e", options_of("Pool2DOptions", **POOL), 1),
        ("MUL", "e factors", "f", options_of("MulOptions"), 1),
        ("CONCATENATION", "d f", "g", concatenated, 1),
        (
            "TRANSPOSE_CONV",
            "size wide g",
            "h",
            options_of("TransposeConvOptions", strideH=2, strideW=2, padding=SAME),
            1,
        ),
        ("MEAN", "h axes", "mean", options_of("ReducerOptions"), 1),
    ]
    operations = [
        Operation(name, [place[i] for i in inputs.split()], [place[result]], options, version)
        for name, inputs, result, options, version in steps[: None if is_reduced else -1]
    ]
    write_graph(path, list(tensors.values()), operations, [0], [place["mean" if is_reduced else "h"]])


@pytest.mark.parametrize("is_reduced", [True, False])
def test_a_float_picture(is_reduced: bool, tmp_path: Path) -> None:
    path, x = tmp_path / "net.tflite", np.random.default_rng(0).normal(size=(1, 9, 7, 3)).astype(np.float32)
    picture(path, is_reduced=is_reduced)
    values = [b.value for b in lineage.bindings_of(canonicalize(import_tflite(path))["main"])]
    windows = [v.attrs for v in values if (relax_name(v) or "").endswith(("2d", "2d_transpose"))]
    layouts = [str(a.data_layout if hasattr(a, "data_layout") else a.layout) for a in windows]
    assert layouts == ["NCHW"] * 5
    # In, and out again where pictures are the result.
    assert sum(qnn.is_qnn(v, "transpose") for v in values) == (1 if is_reduced else 2)
    (found,), expected = tvm_pulp.compile(path, "c").run([x]).outputs.values(), reference_run(path, [x])
    assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()
