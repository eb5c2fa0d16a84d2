"""Which files are decoders with caches, and what is asked of them."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.language_models.exported_decoders import exported
from tvm_pulp.api import CompileOptions
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.language_models.request import exported_request


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "decoder.onnx"
    path.write_bytes(exported("llama", "float"))
    return path


@pytest.mark.parametrize(
    ("capacity", "chunk", "further"),
    [(2, 1, ()), (9, 4, ()), (15, 7, ()), (16, 8, (4,)), (40, 16, (4,)), (500, 16, (4,))],
)
def test_a_chunk_leaves_room_for_a_past(file: Path, capacity: int, chunk: int, further: tuple[int, ...]) -> None:
    made = exported_request(file, CompileOptions(capacity=capacity), "net")
    assert made is not None and (made.decoder.capacity, made.decoder.chunk) == (capacity, chunk)
    assert made.decoder.further_chunks == further


def test_ranges_that_come_from_values_take_one_token_at_a_time(file: Path) -> None:
    file.write_bytes(exported("llama", "dynamic"))
    made = exported_request(file, CompileOptions(capacity=64), "net")
    assert made is not None and made.decoder.chunk == 1


def test_the_tokenizer_travels(file: Path, tmp_path: Path) -> None:
    stories = decoders.tokenizer_file(decoders.STORIES)
    assert stories is not None
    (tmp_path / "tokenizer.json").write_bytes(stories)
    made = exported_request(file, CompileOptions(capacity=8, tokenizer=tmp_path / "tokenizer.json"), "net")
    assert made is not None and made.tokenizer == stories


def test_stated_shapes_make_an_ordinary_network(file: Path) -> None:
    assert exported_request(file, CompileOptions(input_shapes={"input_ids": (1, 4)}), "net") is None


def test_other_files_are_none(tmp_path: Path) -> None:
    assert exported_request(tmp_path / "model.tflite", CompileOptions(), "net") is None
    assert exported_request(tmp_path / "missing.onnx", CompileOptions(), "net") is None


def test_a_symbolic_length_needs_a_capacity(file: Path) -> None:
    with pytest.raises(UserError, match=r"cache 'past_key_values.0.key' has a symbolic length: state --capacity N"):
        exported_request(file, CompileOptions(), "net")


def test_scales_of_positions_are_looked_at(file: Path) -> None:
    """What computes with positions becomes tables; a scale there is no better for that."""
    model = onnx.load_model_from_string(exported("llama", "static"))
    cosine = next(n for n in model.graph.node if n.op_type == "Cos")
    angle = next(n for n in model.graph.node if n.output[0] == cosine.input[0])
    scale = next(i for i in model.graph.initializer if i.name == angle.input[1])
    scale.CopyFrom(numpy_helper.from_array(np.array(np.inf, np.float32), scale.name))
    file.write_bytes(model.SerializeToString())
    with pytest.raises(UserError, match=f"scale '{scale.name}' must be positive and finite: quantize the model again"):
        exported_request(file, CompileOptions(capacity=16), "net")
