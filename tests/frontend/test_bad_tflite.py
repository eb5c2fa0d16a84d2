"""TFLite files that lie about themselves: exit status 2 and one sentence."""

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.frontend.single_tflite import Tensor, options_of, write
from tests.frontend.test_bad_models import _refused

pytest.importorskip("ai_edge_litert.schema_py_generated", reason="writes the files: ai-edge-litert")
Capture = pytest.CaptureFixture[str]
GOOD: dict[str, Any] = {"shape": (2, 3), "scale": 0.1, "zero_point": 4}

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "scale_zero": ({"scale": 0.0}, "tensor 't0': scales must be positive and finite: quantize the model again"),
    "scale_nan": ({"scale": float("nan")}, "tensor 't0': scales must be positive and finite"),
    "zero_point": ({"zero_point": 300}, "tensor 't0': a zero point lies outside int8: quantize the model again"),
    "scale_count": ({"scale": [0.1, 0.2, 0.3]}, "tensor 't0' has 3 scales for axis 0 of shape [2, 3]"),
    "absurd_shape": ({"shape": (1 << 20, 1 << 20)}, "tensor 't0' of shape [1048576, 1048576] is larger than 1024 MiB"),
    "negative_shape": ({"shape": (-7, 3)}, "tensor 't0' has a negative dimension"),
    "quantized_to_int64": ({"dtype": "int64"}, "tensor 't0' is an activation quantized to int64: quantize the model"),
    "short_data": ({"data": np.zeros(5, np.int8)}, "tensor 't0' holds 5 bytes, its shape [2, 3] needs 6"),
}


@pytest.mark.parametrize("case", BAD)
def test_one_sentence(case: str, tmp_path: Path, capfd: Capture) -> None:
    changed, expected = BAD[case]
    path = tmp_path / "model.tflite"
    write(path, "ADD", [Tensor(**{**GOOD, **changed}), Tensor(**GOOD)], Tensor(**GOOD), _options(), 2)
    assert expected in _refused(path, capfd)


def test_unsupported_type(tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "model.tflite"
    write(path, "ADD", [Tensor(**GOOD), Tensor(**GOOD)], Tensor(**GOOD), _options(), 2)
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated")
    import flatbuffers

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
    model.subgraphs[0].tensors[0].type = schema.TensorType.STRING
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    assert "tensor 't0' has the unsupported type number 5: use int8, int32 or float32" in _refused(path, capfd)


@pytest.mark.parametrize(("place", "index"), [("inputs", 99), ("outputs", 99), ("inputs", 2)])
def test_indices_that_do_not_exist(place: str, index: int, tmp_path: Path, capfd: Capture) -> None:
    # The last one reads its own result: a cycle.
    path = tmp_path / "model.tflite"
    write(path, "ADD", [Tensor(**GOOD), Tensor(**GOOD)], Tensor(**GOOD), _options(), 2)
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated")
    import flatbuffers

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
    operator = model.subgraphs[0].operators[0]
    changed = list(getattr(operator, place))
    changed[0] = index
    setattr(operator, place, changed)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    message = _refused(path, capfd)
    expected = "reads 't2' before anything produces it" if index == 2 else "names a tensor that does not exist"
    assert expected in message


@pytest.mark.parametrize("beta", [0.0, -1.0, float("inf"), float("nan")])
def test_a_softmax_of_no_temperature(beta: float, tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "model.tflite"
    result = Tensor(GOOD["shape"], scale=1 / 256, zero_point=-128)
    write(path, "SOFTMAX", [Tensor(**GOOD)], result, options_of("SoftmaxOptions", beta=beta))
    assert f"operator SOFTMAX with the result 't1' cannot be converted with operands of shape [2, 3] (beta {beta}" in (
        _refused(path, capfd)
    )


def test_nothing_but_the_sentence(tmp_path: Path, capfd: Capture) -> None:
    """The importer fails inside a function; its block builder speaks when it dies."""
    path = tmp_path / "model.tflite"
    write(path, "ADD", [Tensor(**GOOD), Tensor(**{**GOOD, "shape": (5, 7)})], Tensor(**GOOD), _options(), 2)
    message = _refused(path, capfd)
    assert "operator ADD with the result 't2' cannot be converted with operands of shape [2, 3] and [5, 7]" in message
    assert "(the first input shape at dim 1 is 3 and the second input shape at dim 1 is 7" in message
    gc.collect()
    assert capfd.readouterr().err == ""


def _options() -> Any:
    from ai_edge_litert import schema_py_generated as schema

    return schema.AddOptionsT()
