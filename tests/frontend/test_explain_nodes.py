"""`tvmc explain` without an accelerator: every node with its canonical operator, or why it has none and what helps."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.frontend.quantized_onnx import Builder
from tvm_pulp.tvmc.main import main

Capture = pytest.CaptureFixture[str]


def _explained(model: object, folder: Path, capsys: Capture, status: int = 0) -> dict[str, list[str]]:
    """Lines under each node's heading."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())  # type: ignore[attr-defined]
    assert main(["explain", str(path)]) == status
    found: dict[str, list[str]] = {}
    for line in capsys.readouterr().out.split("\n\n")[0].splitlines():
        if line.startswith("    "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found


def _network() -> object:
    """conv -> relu -> quantize, a normalization that stays float, a product whose operand is not quantized."""
    g = Builder(np.random.default_rng(0))
    x = g.activation([1, 2, 4, 4], "int8")
    scale, zero = g.constant(np.float32(0.1)), g.constant(np.int8(0))

    def named(op: str, name: str, *operands: str, **attributes: object) -> str:
        g.nodes.append(helper.make_node(op, list(operands), [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"

    made = named("Relu", "relu", named("Conv", "conv", x, g.weight([4, 2, 3, 3])))
    real = named("DequantizeLinear", "dq", named("QuantizeLinear", "q", made, scale, zero), scale, zero)
    flat = named("Reshape", "flat", real, g.constant(np.array([1, 16], np.int64)))
    weights = [g.constant(np.ones(16, np.float32)), g.constant(np.zeros(16, np.float32))]
    normal = named("LayerNormalization", "norm", flat, *weights)
    product = named("MatMul", "loose", normal, g.weight([16, 3], 1))
    named("QuantizeLinear", "last", product, scale, zero)
    return g.model(["last_out"], TensorProto.INT8)


def test_every_node_is_listed_with_what_became_of_it(tmp_path: Path, capsys: Capture) -> None:
    model = _network()
    found = _explained(model, tmp_path, capsys)
    assert len(found) == len(model.graph.node) + 1  # type: ignore[attr-defined]
    for node in ("conv: Conv", "relu: Relu", "q: QuantizeLinear"):
        assert found[node] == ["qnn.conv2d, layer conv"], node
    assert found["norm: LayerNormalization"][0].startswith("stays float, qnn.float_norm")
    assert found["norm: LayerNormalization"][1].startswith("what would help: ")
    assert found["loose: MatMul"] == [
        "stays float, qnn.float_matmul: "
        "its operand 'norm_out' comes from LayerNormalization 'norm' without quantization",
        "what would help: put QuantizeLinear and DequantizeLinear after 'norm'",
    ]


def test_unsupported_nodes_are_listed_before_the_error(tmp_path: Path, capsys: Capture) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="fine"),
        helper.make_node("Mystery", ["a"], ["b"], name="first"),
        helper.make_node("Enigma", ["b"], ["y"], name="second"),
    ]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("x", "y")]
    model = helper.make_model(helper.make_graph(nodes, "g", info[:1], info[1:]))
    found = _explained(model, tmp_path, capsys, status=2)
    assert found["first: Mystery"][0] == "unsupported: Mystery has no conversion"
    assert found["second: Enigma"][1].startswith("what would help: ")
    assert found["fine: Relu"] == ["supported; its form is known once the others are replaced"]
    assert "2 of 3 nodes are unsupported" in found


def test_a_float_model_is_told_to_quantize(tmp_path: Path, capsys: Capture) -> None:
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"], name="only")], "g", info[:1], info[1:])
    found = _explained(helper.make_model(graph), tmp_path, capsys)
    assert found["only: Exp"][0] == "stays float, qnn.float_map: the model is float"
    assert "quantize_static" in found["only: Exp"][1]


def test_the_integer_dialect_too(capsys: Capture) -> None:
    assert main(["explain", "zoo:autoencoder"]) == 0
    text = capsys.readouterr().out
    assert "dense1_acc: Gemm\n    qnn.dense, layer dense1" in text
