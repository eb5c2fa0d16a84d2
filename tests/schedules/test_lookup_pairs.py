"""Sums of thousands of bytes by a table of all pairs: taken where L1 has room for it, the same values either way."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tvm_pulp

SHAPE, SCALES, ZEROS = (1, 512, 128), (0.0501, 0.0317, 0.0619), (-3, 11, 7)
BY_TABLE = "add by a table of pairs"


def write(path: Path) -> None:
    """Two tensors of bytes, added as quantize/dequantize graphs do."""
    nodes, constants = [], []
    for name, scale, zero in zip(("a", "b", "y"), SCALES, ZEROS, strict=True):
        constants.append(numpy_helper.from_array(np.float32(scale).reshape(()), f"{name}_scale"))
        constants.append(numpy_helper.from_array(np.int8(zero).reshape(()), f"{name}_zero"))
    for name in ("a", "b"):
        nodes.append(helper.make_node("DequantizeLinear", [name, f"{name}_scale", f"{name}_zero"], [f"{name}_real"]))
    nodes.append(helper.make_node("Add", ["a_real", "b_real"], ["y_real"]))
    nodes.append(helper.make_node("QuantizeLinear", ["y_real", "y_scale", "y_zero"], ["y"]))
    inputs, (output,) = (
        [helper.make_tensor_value_info(n, TensorProto.INT8, SHAPE) for n in names] for names in (("a", "b"), ("y",))
    )
    graph = helper.make_graph(nodes, "sum", inputs, [output], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


def test_where_there_is_room(tmp_path: Path) -> None:
    write(tmp_path / "sum.onnx")
    rng = np.random.default_rng(5)
    feeds = {name: rng.integers(-128, 128, SHAPE).astype(np.int8) for name in ("a", "b")}
    a, b = ((feeds[n].astype(np.float32) - z) * np.float32(s) for n, s, z in zip("ab", SCALES, ZEROS, strict=False))
    expected = np.clip(np.rint((a + b) / np.float32(SCALES[2])) + ZEROS[2], -128, 127).astype(np.int8)
    forms = []
    for l1 in (None, 40_000):
        run = tvm_pulp.compile(tmp_path / "sum.onnx", "c", soc="siracusa", l1=l1).run(feeds)
        (found,) = run.outputs.values()
        np.testing.assert_array_equal(found, expected)
        forms += [entry["form"] for entry in run.report["layers"]]
    assert forms == [BY_TABLE, "add kernel"]
