"""TFLite files: names, and a clear answer to everything that is not a model."""

from pathlib import Path

import pytest

from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.tflite_file import import_tflite
from tvm_pulp.planning.lowering import build_network


@pytest.fixture
def keyword_model(golden_data: Path) -> Path:
    return golden_data / "mlperf_tiny" / "kws" / "model.tflite"


def test_names_come_from_the_file(keyword_model: Path) -> None:
    imported = import_tflite(keyword_model)
    assert imported.inputs == ("input_1",)
    assert imported.outputs == ("Identity",)
    assert imported.dialect == "tflite"


def test_layers_are_called_after_their_tensors(keyword_model: Path) -> None:
    imported = import_tflite(keyword_model)
    network = build_network(canonicalize(imported), imported, "net")
    names = [layer.name for layer in network.layers]
    assert names[:3] == ["activation_Relu", "activation_1_Relu", "activation_2_Relu"]
    assert names[-3:] == ["average_pooling2d_AvgPool", "dense_BiasAdd", "Identity"]
    assert not [name for name in names if name.startswith("lv")]


def test_weights_are_not_kept_twice(keyword_model: Path) -> None:
    main = import_tflite(keyword_model).module["main"]
    assert "params" not in dict(main.attrs)


def test_missing_file() -> None:
    with pytest.raises(UserError, match=r"model file 'nowhere\.tflite' cannot be read"):
        import_tflite(Path("nowhere.tflite"))


@pytest.mark.parametrize("content", [b"", b"TFL3", b"\x08\x00\x00\x00ONNX" + bytes(100), b"hello" * 100])
def test_not_a_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    with pytest.raises(UserError, match="is not a TFLite model"):
        import_tflite(path)


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.99])
def test_truncated_model(tmp_path: Path, keyword_model: Path, share: float) -> None:
    # A file cut anywhere is a user error, never a traceback.
    content = keyword_model.read_bytes()
    path = tmp_path / "model.tflite"
    path.write_bytes(content[: max(16, int(len(content) * share))])
    with pytest.raises(UserError, match=r"damaged|cannot be imported|not a TFLite|holds no network"):
        import_tflite(path)


def test_unknown_input_in_shapes(keyword_model: Path) -> None:
    with pytest.raises(UserError, match="--input-shapes: the model has no input 'x'; its inputs are input_1"):
        import_tflite(keyword_model, ImportOptions(input_shapes={"x": (1, 2)}))


def test_stated_types_are_refused(keyword_model: Path) -> None:
    with pytest.raises(UserError, match="--input-types"):
        import_tflite(keyword_model, ImportOptions(input_types={"input_1": "uint8"}))
