"""`--io`: the same integers come out as without, and what they stand for is told in every place."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.frontend.quantized_onnx import Builder
from tvm_pulp.api import CompileOptions
from tvm_pulp.errors import UserError
from tvm_pulp.explain.explain import explain
from tvm_pulp.tvmc.main import main

SCALE, ZERO = np.float32(0.05), 3


def _network(dtype: str = "int8", quantized_output: bool = True, other_reader: bool = False) -> Any:
    """relu(x @ w), quantized, with float ends."""
    g = Builder(np.random.default_rng(0))
    g.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16]))
    parameters = [g.constant(SCALE), g.constant(np.asarray(ZERO, dtype))]
    real = g.node("DequantizeLinear", [g.node("QuantizeLinear", ["x", *parameters]), *parameters])
    result = g.node("Relu", [g.node("MatMul", [real, g.weight([16, 8], 1)])])
    if quantized_output:
        parameters = [g.constant(np.float32(0.1)), g.constant(np.asarray(-5 if dtype == "int8" else 5, dtype))]
        result = g.node("DequantizeLinear", [g.node("QuantizeLinear", [result, *parameters]), *parameters])
    outputs = [result, g.node("Neg", ["x"])] if other_reader else [result]
    return g.model(outputs, TensorProto.FLOAT)


def _saved(folder: Path, **settings: Any) -> Path:
    path = folder / "model.onnx"
    onnx.save(_network(**settings), path)
    return path


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_same_integers(dtype: str, tmp_path: Path) -> None:
    path = _saved(tmp_path, dtype=dtype)
    x = np.random.default_rng(1).normal(size=(4, 16)).astype(np.float32)
    limits = np.iinfo(dtype)
    integers = np.clip(np.rint(x / SCALE) + ZERO, limits.min, limits.max).astype(dtype)
    app = tvm_pulp.compile(path, io=dtype)
    (result,) = app.run([integers]).outputs.values()
    (wanted,) = tvm_pulp.compile(path).run([x]).outputs.values()
    (end,) = app.metadata["tvm_pulp"]["outputs"]
    assert result.dtype == dtype
    np.testing.assert_array_equal((result.astype(np.float32) - end["zero_point"]) * np.float32(end["scale"]), wanted)


@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_the_c_names_what_the_model_names(target: str, tmp_path: Path) -> None:
    """Not what makes the integers: the model's own name stands behind a layer that is left out."""
    model = _network()
    name = model.graph.output[0].name
    model.graph.node[-1].output[0] = model.graph.output[0].name = "logits"
    assert name != "logits" and model.graph.node[-1].op_type == "DequantizeLinear"
    onnx.save(model, tmp_path / "model.onnx")
    app = tvm_pulp.compile(tmp_path / "model.onnx", target=target, io="int8")
    (end,) = app.metadata["tvm_pulp"]["outputs"]
    assert end["name"] == end["member"] == "logits"
    assert "*logits;" in app.files["codegen/host/include/tvmgen_default.h"].decode()


def test_told_in_header_metadata_and_report(tmp_path: Path) -> None:
    app = tvm_pulp.compile(_saved(tmp_path), io="int8")
    header = app.files["codegen/host/include/tvmgen_default.h"].decode()
    assert "#define TVMGEN_DEFAULT_INPUT_X_SCALE 5.e-02f" in header or "INPUT_X_SCALE 5.0e-02f" in header
    assert "#define TVMGEN_DEFAULT_INPUT_X_ZERO_POINT (3)" in header
    assert "_ZERO_POINT (-5)" in header
    (told,) = app.run().report["inputs"]
    assert told == {"name": "x", "shape": [4, 16], "dtype": "int8", "scale": float(SCALE), "zero_point": ZERO}
    assert json.loads(app.files["metadata.json"])["tvm_pulp"]["inputs"][0]["zero_point"] == ZERO


def test_nothing_is_told_of_float_ends(tmp_path: Path) -> None:
    app = tvm_pulp.compile(_saved(tmp_path))
    assert "_SCALE" not in app.files["codegen/host/include/tvmgen_default.h"].decode()
    assert app.run().report["outputs"][0]["dtype"] == "float32"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "uint8"}, "--io int8: input 'x' is quantized to uint8 in this model: use --io uint8"),
        ({"quantized_output": False}, "--io int8: output '.*' cannot be int8: .* computes it in float"),
        ({"other_reader": True}, "--io int8: input 'x' cannot be int8: 'negative' reads its float values"),
    ],
    ids=["other type", "float output", "another reader"],
)
def test_refused(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        tvm_pulp.compile(_saved(tmp_path, **settings), io="int8")


def test_no_effect_is_an_error() -> None:
    with pytest.raises(UserError, match="--io int8 has no effect: the network has no float input or output"):
        tvm_pulp.compile("zoo:resnet8", io="int8")
    with pytest.raises(UserError, match="--io 'int4' is unknown: choose int8 or uint8"):
        tvm_pulp.compile("zoo:resnet8", io="int4")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, archive = _saved(tmp_path), tmp_path / "model.tar"
    assert main(["compile", str(path), "-q", "--io", "int8", "-o", str(archive)]) == 0
    assert tvm_pulp.App.load(archive).metadata["tvm_pulp"]["inputs"][0]["dtype"] == "int8"
    assert main(["compile", str(path), "-q", "--io", "uint8", "-o", str(archive)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_explain_suggests_it(tmp_path: Path) -> None:
    path, options = _saved(tmp_path), CompileOptions(target="c", soc="siracusa")
    stream = io.StringIO()
    explain(path, options, stream, suggestions=0)
    assert "--io int8 takes and returns integers instead" in stream.getvalue()
    stream = io.StringIO()
    explain(path, CompileOptions(target="c", soc="siracusa", io="int8"), stream, suggestions=0)
    assert "--io" not in stream.getvalue()
