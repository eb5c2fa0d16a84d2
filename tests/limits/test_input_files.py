"""Every input of the command line, where a pipe, a device, a folder or a file that is too large stands in its place."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.codegen.small_networks import classifier
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.codegen import mlf
from tvm_pulp.errors import UserError
from tvm_pulp.input_file import read_input, read_input_text
from tvm_pulp.limits import JSON_BYTES

# Verb -> its arguments with a bad file at `bad`; `net` is a model, `archive` an archive of little, `study` a study.
INPUTS: dict[str, tuple[str, ...]] = {
    "model": ("compile", "{bad}.onnx", "-o", "{out}"),
    "tflite model": ("compile", "{bad}", "--model-format=tflite", "-o", "{out}"),
    "keras model": ("compile", "{bad}", "--model-format=keras", "-o", "{out}"),
    "pytorch model": ("compile", "{bad}", "--model-format=pytorch", "-o", "{out}"),
    "stablehlo model": ("compile", "{bad}", "--model-format=stablehlo", "-o", "{out}"),
    "sample inputs": ("compile", "{net}", "--sample-inputs", "{bad}", "-o", "{out}"),
    "debug inputs": ("compile", "{net}", "--debug", "--debug-inputs", "{bad}", "-o", "{out}"),
    "soc": ("compile", "{net}", "--soc", "{bad}.yaml", "-o", "{out}"),
    "plan": ("compile", "{net}", "--soc=siracusa", "--plan", "{bad}", "-o", "{out}"),
    "plan of an archive": ("compile", "{net}", "--soc=siracusa", "--plan", "{bad}.tar", "-o", "{out}"),
    "archive to run": ("run", "{bad}"),
    "archive to build": ("build", "{bad}", "-o", "{out}"),
    "archive to generate": ("generate", "{bad}", "--prompt", "a"),
    "archive to crosscheck": ("crosscheck", "{bad}"),
    "inputs": ("run", "{archive}", "--inputs", "{bad}"),
    "dataset": ("run", "{archive}", "--dataset", "{bad}"),
    "labels": ("run", "{archive}", "--dataset", "{arrays}", "--labels", "{bad}"),
    "reference": ("run", "{archive}", "--dataset", "{arrays}", "--reference", "{bad}"),
    "report": ("compare", "{bad}", "{bad}"),
    "calibration": ("quantize", "{net}", "--calibration", "{bad}", "-o", "{out}.onnx"),
    "evaluation": ("quantize", "{net}", "--calibration", "{arrays}", "--evaluation", "{bad}", "-o", "{out}.onnx"),
    "float model": ("quantize", "{bad}.onnx", "--calibration", "{arrays}", "-o", "{out}.onnx"),
    "study": ("sweep", "{bad}", "-o", "{out}.csv"),
    "model of a study": ("sweep", "{study}", "-o", "{out}.csv"),
    "explained model": ("explain", "{bad}.onnx"),
    "planned model": ("plan", "{bad}.onnx"),
    "verified model": ("verify", "{bad}.onnx"),
}
SIM: dict[str, tuple[str, ...]] = {
    "elf": ("sim", "{bad}"),
    "soc": ("sim", "{elf}", "--soc", "{bad}.yaml"),
    "engine model": ("sim", "{elf}", "--model", "neureka={bad}"),
}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 42)


KINDS: dict[str, Callable[[Path], None]] = {"pipe": _pipe, "device": _device, "sparse": _sparse, "folder": Path.mkdir}


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    onnx.save(classifier(), tmp_path / "net.onnx")
    np.savez(tmp_path / "arrays.npz", image=np.zeros((1, 4, 6, 6), np.uint8))
    (tmp_path / "elf").write_bytes(b"\x7fELF")
    mlf.write(tmp_path / "net.tar", {"metadata.json": b"{}"})
    (tmp_path / "study.yaml").write_text("models: [{path: zoo:dscnn, inputs: bad}]\nsocs: [host]\n")
    named = {"net": "net.onnx", "arrays": "arrays.npz", "archive": "net.tar", "study": "study.yaml"}
    return {name: tmp_path / file for name, file in (named | {"bad": "bad", "out": "out", "elf": "elf"}).items()}


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    """A pipe that is opened waits for ever."""

    def ring(*_: object) -> None:
        raise TimeoutError("it waits for its input")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


# Where nothing looks for a file under the path, the sentence says so.
WORDS = {"pipe": ("pipe", "no file"), "device": ("device", "no file"), "sparse": (), "folder": ()}


def put_everywhere(kind: str, bad: Path) -> set[str]:
    """Place what is no input under all names that arguments make of `bad`; returns the names in the folder."""
    for suffix in ("", ".onnx", ".yaml", ".tar"):
        KINDS[kind](Path(f"{bad}{suffix}"))
    return {path.name for path in bad.parent.iterdir()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", INPUTS)
def test_only_regular_files_of_bearable_size(
    what: str, kind: str, places: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = put_everywhere(kind, places["bad"])
    arguments = [text.format(**places) for text in INPUTS[what]]
    finished = tvmc(capsys, *arguments)
    check_refused(finished, (), arguments[0])
    assert not WORDS[kind] or any(word in finished.err for word in WORDS[kind]), finished.err
    assert {path.name for path in places["bad"].parent.iterdir()} == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", SIM)
def test_inputs_of_the_simulator(
    what: str, kind: str, places: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    put_everywhere(kind, places["bad"])
    finished = tvmc(capsys, *(text.format(**places) for text in SIM[what]))
    assert finished.status == 126 and finished.err.count("\n") == 1, finished
    assert finished.err.startswith("tvmc sim: ") and "Traceback" not in finished.err


def test_a_name_that_no_file_has(tmp_path: Path) -> None:
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(UserError, match=r"^it is wrong: "):
            read_input(tmp_path / name, "it is wrong", JSON_BYTES)


def test_files_without_a_size_end_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the kernel state no size; some go on for ever."""
    if not Path("/proc/self/status").is_file():
        pytest.skip("this system has no such files")
    assert b"Name:" in read_input("/proc/self/status", "no", JSON_BYTES)
    monkeypatch.setenv("TVM_PULP_LIMITS", "json_bytes=1k")
    with pytest.raises(UserError, match=r"more than 1,024 .*TVM_PULP_LIMITS=json_bytes="):
        read_input("/proc/self/pagemap", "no", JSON_BYTES)


def test_texts_are_utf_8(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\xff")
    with pytest.raises(UserError, match="UTF-8"):
        read_input_text(tmp_path / "text", "it is wrong", JSON_BYTES)
