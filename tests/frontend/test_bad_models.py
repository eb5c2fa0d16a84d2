"""Bad input through the command line: exit status 2, one sentence that says what to do, no archive left behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.frontend import limits
from tvm_pulp.tvmc.main import main

Model = Any
Capture = pytest.CaptureFixture[str]


def _info(name: str, element: int = TensorProto.INT8, shape: Any = (2, 3)) -> Any:
    return helper.make_tensor_value_info(name, element, shape)


def _model() -> Model:
    """quantize(relu(dequantize(x)))."""
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f"], name="first"),
        helper.make_node("Relu", ["f"], ["r"], name="middle"),
        helper.make_node("QuantizeLinear", ["r", "s", "z"], ["y"], name="last"),
    ]
    constants = [numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.int8(4), "z")]
    graph = helper.make_graph(nodes, "g", [_info("x")], [_info("y", shape=None)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _refused(path: Path, capfd: Capture, *options: str) -> str:
    """The one sentence that `tvmc compile` refuses a file with."""
    archive = path.parent / "model.tar"
    before = sorted(p.name for p in path.parent.iterdir())
    status = main(["compile", str(path), "-q", "-o", str(archive), *options])
    message = capfd.readouterr().err
    assert status == 2, message
    assert message.startswith("tvmc compile: ") and message.count("\n") == 1, message
    assert sorted(p.name for p in path.parent.iterdir()) == before, "something was left behind"
    return message.removeprefix("tvmc compile: ").strip()


def _save(folder: Path, model: Model) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _node(model: Model, name: str) -> Any:
    return next(n for n in model.graph.node if n.name == name)


def _constant(model: Model, name: str, values: Any) -> None:
    tensor = next(t for t in model.graph.initializer if t.name == name)
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(values), name))


def unknown_operators(model: Model) -> None:
    _node(model, "middle").op_type = "Mystery"
    model.graph.node.append(helper.make_node("Enigma", ["f"], ["unused"], name="other"))


def foreign_domain(model: Model) -> None:
    _node(model, "middle").domain = "com.example"


def dynamic_shape(model: Model) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"


def cycle(model: Model) -> None:
    _node(model, "first").input[0] = "y"


def missing_initializer(model: Model) -> None:
    del model.graph.initializer[0]


def missing_output(model: Model) -> None:
    model.graph.output[0].name = "nowhere"


def produced_twice(model: Model) -> None:
    model.graph.node.append(helper.make_node("Neg", ["f"], ["r"], name="again"))


def absurd_input(model: Model) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1 << 40


def absurd_initializer(model: Model) -> None:
    model.graph.initializer[0].dims[:] = [1 << 20, 1 << 20]


def absurd_result(model: Model) -> None:
    repeats = numpy_helper.from_array(np.array([1 << 20, 1 << 20], np.int64), "repeats")
    model.graph.initializer.append(repeats)
    middle = _node(model, "middle")
    middle.op_type = "Tile"
    middle.input.append("repeats")


def absurd_constant(model: Model) -> None:
    # Nothing may be allocated to find out: the result would have four terabytes.
    shape = numpy_helper.from_array(np.array([1 << 20, 1 << 20], np.int64), "shape")
    model.graph.initializer.append(shape)
    model.graph.node.insert(0, helper.make_node("ConstantOfShape", ["shape"], ["huge"], name="huge"))
    _node(model, "first").input[0] = "x"
    model.graph.node.append(helper.make_node("ReduceSum", ["huge"], ["sum"], name="sum"))
    model.graph.output.append(_info("sum", TensorProto.FLOAT, None))


def wrong_length(model: Model) -> None:
    model.graph.initializer[0].dims[:] = [3]


def string_input(model: Model) -> None:
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING


def half_precision(model: Model) -> None:
    _constant(model, "s", np.float16(0.1))


def sequence_input(model: Model) -> None:
    kind = helper.make_tensor_type_proto(TensorProto.INT8, [2, 3])
    model.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(kind))


def absurd_axis(model: Model) -> None:
    middle = _node(model, "middle")
    middle.op_type = "Softmax"
    middle.attribute.append(helper.make_attribute("axis", 1 << 40))


def recursive_function(model: Model) -> None:
    body = [helper.make_node("Again", ["a"], ["b"], domain="own")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model.functions.append(helper.make_function("own", "Again", ["a"], ["b"], body, opsets))


def opset(number: int) -> Callable[[Model], None]:
    def change(model: Model) -> None:
        model.opset_import[0].version = number

    return change


def scale(value: float) -> Callable[[Model], None]:
    return lambda model: _constant(model, "s", np.float32(value))


def zero_point_out_of_range(model: Model) -> None:
    tensor = model.graph.initializer[1]
    tensor.ClearField("raw_data")
    tensor.int32_data[:] = [300]


def zero_point(values: Any) -> Callable[[Model], None]:
    return lambda model: _constant(model, "z", values)


BAD: dict[str, tuple[Callable[[Model], None], str]] = {
    "unknown_operators": (
        unknown_operators,
        "unsupported ONNX operators: Enigma (node 'other'), Mystery (node 'middle'): replace them",
    ),
    "foreign_domain": (foreign_domain, "unsupported ONNX operators: Relu (node 'middle')"),
    "dynamic_shape": (dynamic_shape, "input 'x' has a dynamic shape ['batch', 3]: fix it with --input-shapes"),
    "scale_zero": (scale(0.0), "node 'first' (DequantizeLinear): scale 's' must be positive and finite: quantize"),
    "scale_nan": (scale(np.nan), "node 'first' (DequantizeLinear): scale 's' must be positive and finite: quantize"),
    "scale_negative": (scale(-1.0), "scale 's' must be positive and finite"),
    "zero_point_type": (zero_point(np.int64(300)), "quantization to int64 is not supported; use one of int8"),
    "zero_point_range": (zero_point_out_of_range, "tensor 'z' holds 300, which is outside its type int8: quantize"),
    "zero_point_count": (zero_point(np.zeros(5, np.int8)), "do not fit axis 1 of shape [2, 3]: quantize it again"),
    "cycle": (cycle, "the graph has a cycle through node 'first' (DequantizeLinear): a network must be acyclic"),
    "missing_initializer": (missing_initializer, "node 'first' (DequantizeLinear) reads 's', which nothing produces"),
    "missing_output": (missing_output, "the graph's output 'nowhere' is produced by nothing"),
    "produced_twice": (produced_twice, "node 'again' (Neg) produces 'r', which exists already"),
    "absurd_input": (absurd_input, "input 'x' of shape [1099511627776, 3] is larger than 1024 MiB"),
    "absurd_initializer": (absurd_initializer, "tensor 's' of shape [1048576, 1048576] is larger than 256 MiB"),
    "absurd_result": (absurd_result, "is larger than 1024 MiB: the model is not plausible here"),
    "absurd_constant": (absurd_constant, "value 'huge' of shape [1048576, 1048576] is larger than 1024 MiB"),
    "wrong_length": (wrong_length, "tensor 's' holds 4 bytes, its shape [3] needs 12: export it again"),
    "string_input": (string_input, "input 'x' has the unsupported type string: use float32 or int8"),
    "half_precision": (half_precision, "tensor 's' has the unsupported type float16: export it as float32 or int8"),
    "sequence_input": (sequence_input, "input 'x' is not a tensor: export the model without sequences"),
    "absurd_axis": (absurd_axis, "node 'middle' (Softmax): attribute 'axis' is 1099511627776: export the model again"),
    "recursive_function": (recursive_function, "the model's function 'Again' calls itself"),
    "opset_too_new": (opset(99), "opset 99 is not supported (7 to "),
    "opset_too_old": (opset(3), "opset 3 is not supported (7 to "),
}


@pytest.mark.parametrize("case", BAD)
def test_one_sentence(case: str, tmp_path: Path, capfd: Capture) -> None:
    spoil, expected = BAD[case]
    model = _model()
    spoil(model)
    assert expected in _refused(_save(tmp_path, model), capfd)


def test_the_model_itself_is_good(tmp_path: Path) -> None:
    # Every case above differs from this one in a single point.
    assert main(["compile", str(_save(tmp_path, _model())), "-q", "-o", str(tmp_path / "model.tar")]) == 0


@pytest.mark.parametrize("content", [b"", b"hello" * 50, b"\x08\x08\x12\x04abcd", bytes(range(256))])
def test_not_a_model(content: bytes, tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert "check the file or --model-format" in _refused(path, capfd)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated(share: float, tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "model.onnx"
    content = _model().SerializeToString()
    path.write_bytes(content[: int(len(content) * share)])
    assert _refused(path, capfd)


def test_wrong_input_shapes(tmp_path: Path, capfd: Capture) -> None:
    path = _save(tmp_path, _model())
    message = _refused(path, capfd, "--input-shapes", "x:[2,4]")
    assert message == "--input-shapes: input 'x' is [2, 3] in the file, which [2, 4] does not match"


def _external(folder: Path, location: str, **entries: str) -> Path:
    """A model whose scale lies in another file."""
    model = _model()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return _save(folder, model)


def test_external_data_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes(8) + np.float32(0.1).tobytes())
    path = _external(tmp_path, "weights.bin", offset="8", length="4")
    assert main(["compile", str(path), "-q", "-o", str(tmp_path / "model.tar")]) == 0


def test_external_data_saved_by_onnx(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(_model(), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert (tmp_path / "weights.bin").stat().st_size > 0
    assert main(["compile", str(path), "-q", "-o", str(tmp_path / "model.tar")]) == 0


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/hostname", "", "sub/../../secret.bin", "link.bin", "."])
def test_external_data_outside_the_folder(location: str, tmp_path: Path, capfd: Capture) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(np.float32(0.1).tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    message = _refused(_external(folder, location), capfd)
    assert "lies outside the model's folder" in message or "is missing" in message


def test_external_data_missing(tmp_path: Path, capfd: Capture) -> None:
    message = _refused(_external(tmp_path, "absent.bin"), capfd)
    assert message == "tensor 's': external data 'absent.bin' is missing: put it beside the model"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"offset": "-4"}, "has the offset '-4', not a byte count"),
        ({"length": "9999999"}, "has 9999999 bytes, its shape [] needs 4"),
        ({"offset": "100"}, "ends before its 4 bytes"),
    ],
)
def test_external_data_out_of_bounds(entries: dict[str, str], expected: str, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes(16))
    assert expected in _refused(_external(tmp_path, "weights.bin", **entries), capfd)


def test_too_many_nodes(tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvm_pulp.frontend.onnx_file.MOST_NODES", 2)
    assert limits.MOST_NODES > 1000
    assert "the graph has 3 nodes, more than 2" in _refused(_save(tmp_path, _model()), capfd)


def test_output_folder_missing(tmp_path: Path, capfd: Capture) -> None:
    path = _save(tmp_path, _model())
    assert main(["compile", str(path), "-q", "-o", str(tmp_path / "no" / "model.tar")]) == 2
    assert capfd.readouterr().err == f"tvmc compile: -o: folder '{tmp_path / 'no'}' does not exist\n"


def test_output_is_a_folder(tmp_path: Path, capfd: Capture) -> None:
    assert main(["compile", str(_save(tmp_path, _model())), "-q", "-o", str(tmp_path)]) == 2
    assert "is a folder; name a file" in capfd.readouterr().err


def test_unknown_option(tmp_path: Path, capfd: Capture) -> None:
    message = _refused(_save(tmp_path, _model()), capfd, "--turbo")
    assert "unrecognized arguments: --turbo" in message
