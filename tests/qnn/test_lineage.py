"""Layers carry names of the model's nodes, and list the nodes that they were made of."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvm_pulp
from tvm_pulp.tvmc.main import main

_UNNAMED = re.compile(r"[lg]v\d*(_.*)?")


def _network() -> Any:
    """Two convolutions with bias and ReLU between quantizations, named as people name modules; a float end."""
    rng = np.random.default_rng(0)
    constants: dict[str, np.ndarray] = {"s": np.float32([0.05])[0:1].reshape(()), "z": np.zeros((), np.int8)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "input/quantize"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["a0"], "input/dequantize"),
    ]
    for i, block in enumerate(("stem", "body.0")):
        constants[f"w{i}"] = rng.integers(-90, 90, (4, 4, 3, 3)).astype(np.int8)
        constants[f"b{i}"] = rng.integers(-500, 500, 4).astype(np.int32)
        constants[f"t{i}"] = np.asarray(0.0025, np.float32)
        constants["zero"] = np.zeros((), np.int32)
        nodes += [
            helper.make_node("DequantizeLinear", [f"w{i}", "s", "z"], [f"wd{i}"], f"{block}/weight"),
            helper.make_node("DequantizeLinear", [f"b{i}", f"t{i}", "zero"], [f"bd{i}"], f"{block}/bias"),
            helper.make_node("Conv", [f"a{i}", f"wd{i}", f"bd{i}"], [f"c{i}"], f"{block}.conv", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"{block}.relu"),
            helper.make_node("QuantizeLinear", [f"r{i}", "s", "z"], [f"q{i}"], f"{block}/quantize"),
            helper.make_node("DequantizeLinear", [f"q{i}", "s", "z"], [f"a{i + 1}"], f"{block}/dequantize"),
        ]
    nodes.append(helper.make_node("Exp", ["a2"], ["y"], "head/exp"))
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4, 6, 6]) for n in ("x", "y")]
    held = [numpy_helper.from_array(a, n) for n, a in constants.items()]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("lineage") / "named.onnx"
    onnx.save(_network(), made)
    return made


def test_plan_report_and_c(path: Path) -> None:
    app = tvm_pulp.compile(path, "uma-neureka")
    report = app.run().report
    plan = json.loads(app.files["plan.json"])
    for layers in (plan["layers"], report["layers"]):
        found = {layer["name"]: layer["nodes"] for layer in layers}
        assert not [name for name in found if _UNNAMED.fullmatch(name)], found
        # Bias, activation and quantization belong to the convolution; what the other one was made of does not.
        assert {"stem.conv", "stem.relu", "stem/quantize", "stem/bias"} <= set(found["stem_conv"])
        assert {"body.0.conv", "body.0.relu"} <= set(found["body_0_conv"])
        assert not any(node.startswith("body") for node in found["stem_conv"])
        assert all(nodes for nodes in found.values())
    source = next(t.decode() for n, t in app.files.items() if n.endswith("_run.c"))
    assert "stem.conv" in source and "body.0.relu" in source and not re.search(r"\blv\d", source)


def test_explain_and_pictures(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(path), "--target=c", "--soc=siracusa"]) == 0
    told = capsys.readouterr().out
    assert re.search(
        r"^body_0_conv: conv2d .*(\n    .*)*\n    made of .*body\.0\.conv, body\.0\.relu", told, re.MULTILINE
    )
    assert main(["plan", str(path), "--target=c", "--soc=siracusa", "-o", str(tmp_path / "plan")]) == 0
    assert "stem.relu" in (tmp_path / "plan" / "timeline.svg").read_text()


def test_float_networks(path: Path) -> None:
    model = _network()
    for node in [n for n in model.graph.node if "Quantize" in n.op_type or "Dequantize" in n.op_type]:
        model.graph.node.remove(node)
    rng = np.random.default_rng(1)
    renamed = {"a0": "x", "a1": "r0", "a2": "r1"}
    for node in model.graph.node:
        node.input[:] = [renamed.get(i, i) for i in node.input]
    del model.graph.initializer[:]
    for i in range(2):
        model.graph.initializer.append(numpy_helper.from_array(rng.normal(size=(4, 4, 3, 3)).astype("f"), f"wd{i}"))
        model.graph.initializer.append(numpy_helper.from_array(rng.normal(size=4).astype("f"), f"bd{i}"))
    made = path.with_name("float.onnx")
    onnx.save(model, made)
    app = tvm_pulp.compile(made, "c", soc="siracusa")
    layers = json.loads(app.files["plan.json"])["layers"]
    assert not [layer["name"] for layer in layers if _UNNAMED.fullmatch(layer["name"]) or not layer["nodes"]]
    assert "stem.conv" in {node for layer in layers for node in layer["nodes"]}
