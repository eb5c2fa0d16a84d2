"""A debug build names the pointer that its caller got wrong, before anything reads or writes there."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.codegen.small_networks import classifier
from tvm_pulp.app import App
from tvm_pulp.errors import UserError
from tvm_pulp.sim.debug_report import SYMBOL, debug_text
from tvm_pulp.sim.host import host_library
from tvm_pulp.sim.open_library import OpenLibrary

WRONG_POINTER = -3
RUN, PROGRAM = "tvmgen_default_run", "codegen/host/src/default_program.c"


def float_network() -> Any:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "relu",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> OpenLibrary:
    folder = tmp_path_factory.mktemp("relu")
    onnx.save(float_network(), folder / "relu.onnx")
    return OpenLibrary(host_library(tvm_pulp.compile(folder / "relu.onnx", debug=True).files, folder / "c"))


@pytest.mark.parametrize(
    ("given", "moved", "message"),
    [
        ((None, None), (0, 0), "input x is a null pointer"),
        ((8, None), (0, 0), "output y is a null pointer"),
        ((8, 8), (1, 0), "input x is at 0x.*, which is no multiple of 4 bytes"),
        ((8, 8), (0, 2), "output y is at 0x.*, which is no multiple of 4 bytes"),
        ((8, 8), (0, 0), None),
        (None, (0, 0), "the structure of inputs is a null pointer"),
    ],
)
def test_pointers_on_this_machine(
    given: tuple[int | None, int | None] | None, moved: tuple[int, int], message: str | None, library: OpenLibrary
) -> None:
    ctypes.memset(library.address(SYMBOL), 0, 48)
    memory = [np.zeros(8 + 1, np.float32) for _ in range(2)]
    pointers: list[Any] = [None, None]
    if given is not None:
        ends = zip(memory, given, moved, strict=True)
        pointers = [(ctypes.c_void_p * 1)(None if n is None else m.ctypes.data + by) for m, n, by in ends]
    returned = library.function(RUN)(*pointers)
    if message is None:
        assert returned == 0
        return
    assert returned == WRONG_POINTER
    with pytest.raises(UserError, match=message):
        debug_text(ctypes.string_at, library.address(SYMBOL), pointer_bytes=8)


@pytest.fixture(scope="module")
def debug_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("classifier")
    onnx.save(classifier(), folder / "classifier.onnx")
    options = {"target": "c", "soc": "siracusa", "input_types": {"image": "uint8"}, "planner": "greedy"}
    return tvm_pulp.compile(folder / "classifier.onnx", debug=True, **options).files


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("{tvmgen_default_inputs_image}", "{0}", "input image is a null pointer"),
        ("{tvmgen_default_outputs_classes}", "{0}", "output classes is a null pointer"),
        (
            "{tvmgen_default_inputs_image}",
            "{tvmgen_default_inputs_image + 2}",
            "input image is at 0x1c.*, which is no multiple of 4",
        ),
    ],
)
def test_pointers_on_a_cluster(right: str, wrong: str, message: str, debug_files: dict[str, bytes]) -> None:
    text = debug_files[PROGRAM].decode()
    assert text.count(right) == 1
    app = App({**debug_files, PROGRAM: text.replace(right, wrong).encode()})
    with pytest.raises(UserError, match=message):
        app.run()


def test_release_builds_do_not_ask(tmp_path: Path) -> None:
    onnx.save(classifier(), tmp_path / "classifier.onnx")
    for soc in ("host", "siracusa"):
        files = tvm_pulp.compile(tmp_path / "classifier.onnx", soc=soc, input_types={"image": "uint8"}).files
        assert not [path for path, text in files.items() if b"WRONG_POINTER" in text or b"debug_pointer" in text]
