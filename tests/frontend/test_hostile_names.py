"""Names that a model file may contain never break out of a C comment, string, identifier or path."""

import tarfile
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.api import App
from tvm_pulp.tvmc.main import main

NAMES = [
    'quote" ; int evil = 1; //',
    "new\nline\n#error broken",
    "*/ int evil(void) { return 1; } /*",
    "/* open",
    "../../../tmp/evil",
    "while",
    "int",
    "größe_ψ_名前",
    "\u202eright to left",
    "back\\slash\\",
    "??/ trigraph ??>",
    "%s%n{}",
    "1st",
    " ",
    "main",
    "tvmgen_default_run",
    "x" * 3000,
]


def _model(name: str) -> bytes:
    """A small network whose every name is the same hostile text, with a number where names must differ."""
    nodes = [
        helper.make_node("DequantizeLinear", [name, f"{name}s", f"{name}z"], [f"{name}1"], name=name),
        helper.make_node("MatMul", [f"{name}1", f"{name}w"], [f"{name}2"], name=f"{name}n"),
        helper.make_node("QuantizeLinear", [f"{name}2", f"{name}s", f"{name}z"], [f"{name}3"], name=name),
        helper.make_node("DequantizeLinear", [f"{name}3", f"{name}s", f"{name}z"], [f"{name}4"]),
        helper.make_node("LayerNormalization", [f"{name}4", f"{name}g"], [f"{name}5"], name=name),
    ]
    values = {
        "s": np.float32(0.1),
        "z": np.int8(4),
        "w": np.full((3, 3), 0.5, np.float32),
        "g": np.ones(3, np.float32),
    }
    constants = [numpy_helper.from_array(np.asarray(v), f"{name}{k}") for k, v in values.items()]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT8, [2, 3])]
    outputs = [
        helper.make_tensor_value_info(f"{name}5", TensorProto.FLOAT, None),
        helper.make_tensor_value_info(f"{name}3", TensorProto.INT8, None),
    ]
    graph = helper.make_graph(nodes, name, inputs, outputs, constants, doc_string=name)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name=name)
    return bytes(model.SerializeToString())


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_emitted_c_compiles_and_keeps_the_names(name: str, tmp_path: Path) -> None:
    path, archive = tmp_path / "model.onnx", tmp_path / "model.tar"
    path.write_bytes(_model(name))
    assert main(["compile", str(path), "-q", "-o", str(archive)]) == 0
    # Only the archive appeared, and no member of it leaves its folder.
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.onnx", "model.tar"]
    with tarfile.open(archive) as tar:
        for member in tar.getnames():
            assert member.isascii() and ".." not in Path(member).parts and not member.startswith("/")
    app = App.load(archive)
    for file, content in app.files.items():
        if file.endswith((".c", ".h")) and file.startswith("codegen"):
            assert content.isascii() and b"evil(void) { return" not in content.replace(b"* /", b"*/").split(b"*/")[-1]
    # The host build uses -Wall -Wextra -Werror; results come back under the file's own names.
    result = app.run({name: np.arange(6, dtype=np.int8).reshape(2, 3)})
    assert list(result.outputs) == [f"{name}5", f"{name}3"]
    np.testing.assert_allclose(result.outputs[f"{name}5"], 0.0, atol=1e-3)  # equal columns: nothing left to normalize


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_messages_stay_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = helper.make_node("Mystery", [name], [f"{name}y"], name=name)
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in (name, f"{name}y")]
    graph = helper.make_graph([node], "g", info[:1], info[1:])
    path = tmp_path / "model.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    assert main(["compile", str(path), "-q", "-o", str(tmp_path / "model.tar")]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and len(message) < 2000
    assert not (tmp_path / "model.tar").exists()
