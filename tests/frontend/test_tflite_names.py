"""Names of layers and tensors of a TFLite file."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.single_tflite import Operation, Tensor, options_of, reference_run, write_graph
from tvm_pulp.frontend.tflite_converter import layer_name


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        ("functional_1/activation/Relu;functional_1/batch_normalization/FusedBatchNormV3", "activation_Relu"),
        ("model/block/conv/BiasAdd", "block_conv_BiasAdd"),
        ("dense/MatMul", "dense_MatMul"),
        ("Identity", "Identity"),
        ("StatefulPartitionedCall:0", "StatefulPartitionedCall_0"),
        ("1/2", "v_1_2"),
        ("", "v_"),
        (";/", "v_"),
    ],
)
def test_names_of_layers(tensor: str, name: str) -> None:
    assert layer_name(tensor) == name


@pytest.mark.parametrize("names", ["xxxx", "xyyx", "xyxz", "x" * 3 + "z"])
def test_tensors_may_share_names(names: str, tmp_path: Path) -> None:
    """Operators name tensors by number: a result called like an input is another tensor."""
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="writes the files: ai-edge-litert")
    import flatbuffers

    path, shape = tmp_path / "model.tflite", (2, 3)
    tensors = [Tensor(shape, scale=scale, zero_point=3) for scale in (0.05, 0.04, 0.07, 0.09)]
    add = options_of("AddOptions")
    write_graph(path, tensors, [Operation("ADD", [0, 1], [2], add), Operation("ADD", [2, 0], [3], add)], [0, 1], [3])
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
    for tensor, name in zip(model.subgraphs[0].tensors, names, strict=True):
        tensor.name = name.encode()
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    rng = np.random.default_rng(3)
    feeds = [rng.integers(-128, 128, shape).astype(np.int8) for _ in range(2)]
    (found,) = tvm_pulp.compile(path).run(feeds).outputs.values()
    np.testing.assert_array_equal(found, reference_run(path, feeds))
