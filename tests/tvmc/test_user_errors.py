"""Every mistake a user can make: exit status 2, one sentence that says which option and what to do, nothing written."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.codegen import small_networks
from tests.tvmc.command_line import check_refused, tvmc

Arguments = Callable[[Path], list[object]]


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def float_model(folder: Path, *dimensions: int | str) -> Path:
    """y = relu(x), all float."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, list(dimensions)) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    path = folder / "float.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def dialect_model(folder: Path) -> Path:
    path = folder / "dialect.onnx"
    onnx.save(small_networks.classifier(), str(path))
    return path


def arrays(folder: Path, **values: np.ndarray) -> Path:
    np.savez(folder / "arrays.npz", **values)
    return folder / "arrays.npz"


# What is wrong -> arguments after `tvmc compile`, and words of the message.
COMPILE: dict[str, tuple[Arguments, tuple[str, ...]]] = {
    "no model": (lambda d: [], ("MODEL", "--help")),
    "missing file": (lambda d: [d / "none.onnx"], ("none.onnx", "does not exist", "zoo:NAME")),
    "a folder": (lambda d: [d], ("does not exist",)),
    "unclear suffix": (lambda d: [write(d / "net.bin", b"x")], ("net.bin", "--model-format")),
    "broken onnx": (lambda d: [write(d / "net.onnx", b"\x00\x01broken")], ("net.onnx", "not a readable ONNX")),
    "empty onnx": (lambda d: [write(d / "net.onnx", b"")], ("net.onnx", "ONNX")),
    "broken tflite": (lambda d: [write(d / "net.tflite", b"broken")], ("net.tflite", "not a TFLite model")),
    "truncated tflite": (lambda d: [write(d / "net.tflite", b"\x20\0\0\0TFL3" + bytes(20))], ("net.tflite",)),
    "wrong format": (lambda d: [dialect_model(d), "--model-format=tflite"], ("dialect.onnx", "not a TFLite model")),
    "unknown format": (lambda d: ["zoo:resnet8", "--model-format=pickle"], ("--model-format", "pickle")),
    "ineffective format": (lambda d: ["zoo:resnet8", "--model-format=onnx"], ("--model-format", "no effect")),
    "misspelt network": (lambda d: ["zoo:resnet9"], ("resnet9", "did you mean resnet8")),
    "unknown network": (lambda d: ["zoo:qqqqqq"], ("qqqqqq", "the networks are", "dscnn")),
    "types without name": (lambda d: [dialect_model(d), "--input-types", "uint8"], ("--input-types", "NAME:TYPE")),
    "types of nothing": (
        lambda d: [dialect_model(d), "--input-types", "x:uint8"],
        ("--input-types", "no input 'x'", "image"),
    ),
    "unknown type": (lambda d: [dialect_model(d), "--input-types", "image:int7"], ("--input-types", "int7", "uint8")),
    "type of a float input": (
        lambda d: [float_model(d, 1, 4), "--input-types", "x:float16"],
        ("--input-types", "float16"),
    ),
    "malformed shape": (lambda d: [float_model(d, "n", 4), "--input-shapes", "x:1,4"], ("--input-shapes", "NAME:[")),
    "shape of nothing": (
        lambda d: [float_model(d, 1, 4), "--input-shapes", "z:[1,4]"],
        ("--input-shapes", "no input 'z'"),
    ),
    "dynamic shape": (lambda d: [float_model(d, "n", 4)], ("'x'", "dynamic", "--input-shapes")),
    "missing samples": (
        lambda d: [dialect_model(d), "--sample-inputs", d / "none.npz"],
        ("--sample-inputs", "none.npz", "does not exist"),
    ),
    "broken samples": (
        lambda d: [dialect_model(d), "--sample-inputs", write(d / "bad.npz", b"bad")],
        ("--sample-inputs", "bad.npz", "cannot be read"),
    ),
    "fractional samples": (
        lambda d: [undeclared_model(d), "--sample-inputs", arrays(d, image=np.full((1, 4, 6, 6), 0.5))],
        ("--sample-inputs", "image", "fractions"),
    ),
    "unknown target": (lambda d: ["zoo:resnet8", "--target=cuda"], ("cuda",)),
    "unknown engine": (lambda d: ["zoo:resnet8", "--target=uma-none"], ("none",)),
    "unknown soc": (lambda d: ["zoo:resnet8", "--soc=siracuse"], ("siracuse", "siracusa")),
    "engine not on soc": (lambda d: ["zoo:resnet8", "--target=uma-neureka", "--soc=host"], ("host", "neureka")),
    "option of absent engine": (
        lambda d: ["zoo:resnet8", "--target=c", "--target-uma-neureka-requant", "exact"],
        ("neureka", "--target c"),
    ),
    "unknown engine option": (
        lambda d: ["zoo:resnet8", "--target=uma-neureka", "--target-uma-neureka-speed=9"],
        ("speed",),
    ),
    "bad engine option": (
        lambda d: ["zoo:resnet8", "--target=uma-neureka", "--target-uma-neureka-weight_memory=tape"],
        ("weight_memory", "tape", "sram"),
    ),
    "unknown option": (lambda d: ["zoo:resnet8", "--fast"], ("--fast", "--help")),
    "abbreviated option": (lambda d: ["zoo:resnet8", "--tar=c"], ("--tar",)),
    "l1 of the host": (lambda d: ["zoo:resnet8", "--l1", "65536"], ("--l1", "no effect")),
    "cores of the host": (lambda d: ["zoo:resnet8", "--cores", "4"], ("--cores", "no effect")),
    "pin on the host": (lambda d: ["zoo:resnet8", "--pin", "conv1=cluster"], ("--pin", "no effect")),
    "malformed pin": (lambda d: ["zoo:resnet8", "--soc=siracusa", "--pin", "conv1"], ("--pin", "NODE=ENGINE")),
    "too many cores": (lambda d: ["zoo:resnet8", "--soc=siracusa", "--cores", "9"], ("--cores 9", "8")),
    "no number": (lambda d: ["zoo:resnet8", "--soc=siracusa", "--l1", "much"], ("--l1", "much")),
    "no size": (lambda d: ["zoo:resnet8", "--soc=siracusa", "--l1=64q"], ("--l1 '64q'", "65536", "64k")),
    "module name": (lambda d: ["zoo:resnet8", "--module-name", "my-net"], ("--module-name", "my-net")),
    "unknown dump": (lambda d: ["zoo:resnet8", "--dump-code=asm", "--dump-dir", d], ("--dump-code", "asm")),
    "dump without folder": (lambda d: ["zoo:resnet8", "--dump-code=c"], ("--dump-code", "--dump-dir")),
    "folder without dump": (lambda d: ["zoo:resnet8", "--dump-dir", d], ("--dump-code", "--dump-dir")),
    "unknown output format": (lambda d: ["zoo:resnet8", "-f", "so"], ("so", "mlf")),
}


def undeclared_model(folder: Path) -> Path:
    """A dialect graph whose input type the file does not state."""
    model = small_networks.classifier()
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
    path = folder / "undeclared.onnx"
    onnx.save(model, str(path))
    return path


@pytest.mark.parametrize("case", COMPILE)
def test_compile(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    arguments, words = COMPILE[case]
    output = tmp_path / "result" / "net.tar"
    output.parent.mkdir()
    finished = tvmc(capsys, "compile", *map(str, arguments(tmp_path)), "-o", output)
    check_refused(finished, words, "compile")
    assert list(output.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "words"),
    [("none/net.tar", ("-o", "none", "does not exist")), ("", ("-o", "is a folder"))],
)
def test_output_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str, words: tuple[str, ...]
) -> None:
    check_refused(tvmc(capsys, "compile", "zoo:resnet8", "-o", tmp_path / output), words, "compile")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("drawing", "words"),
    [("none/net.onnx", ("--onnx", "none", "does not exist")), ("", ("--onnx", "is a folder"))],
)
def test_drawing_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], drawing: str, words: tuple[str, ...]
) -> None:
    check_refused(tvmc(capsys, "explain", "zoo:resnet8", "--onnx", tmp_path / drawing), words, "explain")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tvm_pulp.tvmc.main import main

    folder = tmp_path_factory.mktemp("archive")
    assert main(["compile", "-q", str(dialect_model(folder)), "-o", str(folder / "net.tar")]) == 0
    return folder / "net.tar"


GOOD = np.zeros((1, 4, 6, 6), np.uint8)
RUN: dict[str, tuple[Callable[[Path, Path], list[object]], tuple[str, ...]]] = {
    "missing archive": (lambda a, d: [d / "none.tar"], ("none.tar", "does not exist: `tvmc compile MODEL -o")),
    "no archive": (lambda a, d: [write(d / "x.tar", b"text")], ("x.tar", "not a readable archive")),
    "missing inputs": (lambda a, d: [a, "-i", d / "none.npz"], ("--inputs", "none.npz", "does not exist")),
    "broken inputs": (lambda a, d: [a, "-i", write(d / "x.npz", b"text")], ("--inputs", "x.npz")),
    "no arrays": (lambda a, d: [a, "-i", arrays(d)], ("--inputs", "image")),
    "wrong size": (lambda a, d: [a, "-i", arrays(d, image=GOOD[:, :3])], ("image", "[1, 3, 6, 6]", "[1, 4, 6, 6]")),
    "too large": (lambda a, d: [a, "-i", arrays(d, image=GOOD + np.int64(256))], ("image", "uint8", "--input-types")),
    "negative": (lambda a, d: [a, "-i", arrays(d, image=GOOD.astype(int) - 1)], ("image", "uint8", "--input-types")),
    "fractions": (lambda a, d: [a, "-i", arrays(d, image=GOOD + 0.5)], ("image", "uint8")),
    "not a number": (lambda a, d: [a, "-i", arrays(d, image=GOOD + np.nan)], ("image",)),
    "text": (lambda a, d: [a, "-i", arrays(d, image=np.full(GOOD.shape, "x"))], ("image", "not numbers")),
    "unknown device": (lambda a, d: [a, "--device=fpga"], ("--device", "fpga", "iss")),
    "device not installed": (
        lambda a, d: [a, "--device=verilator"],
        ("--device verilator", "no runner of that name is installed"),
    ),
    "device of another soc": (lambda a, d: [a, "--device=iss"], ("--device iss", "--soc=siracusa")),
    "trace of the host": (lambda a, d: [a, "--trace", d / "t.json"], ("--trace", "no effect")),
    "toolchain of the host": (lambda a, d: [a, "--toolchain=gcc"], ("--toolchain", "no effect")),
    "no repeat": (lambda a, d: [a, "--repeat=0"], ("--repeat 0",)),
    "outputs into nowhere": (lambda a, d: [a, "-o", d / "none" / "o.npz"], ("--outputs", "none")),
    "report into nowhere": (lambda a, d: [a, "--report", d / "none" / "o.json"], ("--report", "none")),
    "unknown option": (lambda a, d: [a, "--fast"], ("--fast",)),
}


@pytest.mark.parametrize("case", RUN)
def test_run(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    arguments, words = RUN[case]
    check_refused(tvmc(capsys, "run", *map(str, arguments(archive, tmp_path))), words, "run")
    assert not list(tmp_path.glob("*.json"))


def test_unknown_verb(capsys: pytest.CaptureFixture[str]) -> None:
    check_refused(tvmc(capsys, "compil"), ("compil", "compile, build, run"), "compil")


def test_exit_status_of_the_process() -> None:
    command = [sys.executable, "-m", "tvm_pulp.tvmc.main", "compile", "none.onnx", "-o", "none.tar"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "Traceback" not in finished.stderr
    assert not Path("none.tar").exists()
