"""Files of frameworks are data: whatever is in one, the answer is one sentence, exit 2, and nothing is executed."""

import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tvmc.command_line import check_refused, tvmc

DENSE = {"module": "keras.layers", "class_name": "Dense", "config": {"units": 3}}


def archive(config: Any = None, weights: bytes | None = b"\x89HDF", **further: bytes) -> bytes:
    """A `.keras` file with these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as members:
        if config is not None:
            members.writestr("config.json", config if isinstance(config, (str, bytes)) else json.dumps(config))
        if weights is not None:
            members.writestr("model.weights.h5", weights)
        for name, content in further.items():
            members.writestr(name, content)
    return made.getvalue()


def with_layer(**layer: Any) -> bytes:
    return archive({**DENSE, "class_name": "Sequential", "config": {"layers": [DENSE, layer]}})


def bomb() -> bytes:
    """A file whose list of members says that they are larger than they are: writing that much takes seconds."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as members:
        for name in ("config.json", "model.weights.h5"):
            members.writestr(name, b"{}")
            members.infolist()[-1].file_size = 600 << 20
    return made.getvalue()


WHOLE = archive(DENSE)
KERAS: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "damaged"),
    "no archive": (lambda: b"x" * 100, "damaged"),
    "a pickle": (lambda: b"\x80\x04cos\nsystem\n(S'touch pwned'\ntR.", "damaged"),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(64), "damaged"),
    "half of it": (lambda: WHOLE[: len(WHOLE) // 2], "damaged"),
    "without its end": (lambda: WHOLE[:-10], "damaged"),
    "without its first bytes": (lambda: WHOLE[60:], "damaged"),
    "no members": (lambda: archive(None, None), "damaged"),
    "no weights": (lambda: archive(DENSE, None), "damaged"),
    "no description": (lambda: archive(None), "damaged"),
    "no text": (lambda: archive(b"\xff\xfe\x00"), "damaged"),
    "no JSON": (lambda: archive("{'a': 1}"), "damaged"),
    "cut JSON": (lambda: archive('{"module": "keras", "config": ['), "damaged"),
    "too deep": (lambda: archive("[" * 100_000 + "]" * 100_000), "nested 100000 deep"),
    "a long description": (lambda: archive(" " * (1 << 24) + "{}"), "16 MiB"),
    "a bomb": (bomb, "unpacks to 1200 MiB"),
    "a file more than there may be": (lambda: archive(DENSE, **{f"z{n}": b"" for n in range(63)}), "holds 65 files"),
    "many members": (lambda: archive(DENSE, **{f"m{n}": b"" for n in range(1000)}), "holds 1002 files"),
    "a lambda": (lambda: with_layer(module="keras.layers", class_name="Lambda", config={}), "class Lambda, which runs"),
    "code": (lambda: with_layer(class_name="__lambda__", config={"value": ["4wEA"]}), "class __lambda__, which runs"),
    "a wrapper": (lambda: with_layer(module="keras.layers", class_name="TorchModuleWrapper"), "TorchModuleWrapper"),
    "a SavedModel": (lambda: with_layer(module="keras.layers", class_name="TFSMLayer", config={}), "class TFSMLayer"),
    "a foreign class": (lambda: with_layer(module="os", class_name="system", config={}), "of the module 'os'"),
    "a foreign function": (
        lambda: with_layer(module="keras.layers", class_name="Dense", config={"a": {"module": "subprocess"}}),
        "of the module 'subprocess'",
    ),
    "a download": (
        lambda: with_layer(module="keras.utils", class_name="function", config="get_file"),
        "of the module 'keras.utils'",
    ),
    "a setting": (
        lambda: with_layer(module="keras.config", class_name="function", config="enable_unsafe_deserialization"),
        "of the module 'keras.config'",
    ),
    "a module that only begins so": (
        lambda: with_layer(module="keras.layers.x\n", class_name="Dense"),
        "only Keras' own classes",
    ),
    "a class of dots": (lambda: with_layer(module="keras", class_name="utils.get_file"), "only Keras' own classes"),
    "a callback": (lambda: with_layer(module="keras.callbacks", class_name="LambdaCallback"), "'keras.callbacks'"),
    "a type": (lambda: with_layer(class_name="__typespec__", spec_name="a", config=[]), "class __typespec__"),
    "words of a file": (
        lambda: with_layer(module="keras.layers", class_name="StringLookup", config={"vocabulary": "/etc/passwd"}),
        "the vocabulary of another file",
    ),
    "a member elsewhere": (lambda: archive(DENSE, **{"assets/../../a": b""}), "holds a file"),
    "a member of another kind": (lambda: archive(DENSE, **{"code.py": b""}), "holds a file"),
    "a hidden class": (lambda: archive([[[{"module": "keras_evil.x", "class_name": "A"}]]]), "'keras_evil.x'"),
}


def test_there_are_many() -> None:
    """Those of SavedModels are in test_tensorflow_models.py."""
    assert len(KERAS) + len(STABLEHLO) >= 40


# Ways out of the process, and code from data, as the interpreter itself reports them.
_EVENTS = {"os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class"}
_SEEN: list[str] = []
sys.addaudithook(lambda event, _: _SEEN.append(event) if event in _EVENTS else None)


@pytest.fixture
def nothing_starts() -> list[str]:
    """Events while a file is read."""
    _SEEN.clear()
    return _SEEN


@pytest.mark.parametrize("case", KERAS)
def test_keras_files(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], nothing_starts: list[str]) -> None:
    make, text = KERAS[case]
    (tmp_path / "net.keras").write_bytes(make())
    done = tvmc(capsys, "compile", tmp_path / "net.keras", "-o", tmp_path / "net.tar")
    check_refused(done, [text], "compile")
    assert [p.name for p in tmp_path.iterdir()] == ["net.keras"] and not nothing_starts


WEIGHTS = {
    "another file": lambda h5py, file: file.__setitem__("a", h5py.ExternalLink("/etc/passwd", "/")),
    "another place": lambda h5py, file: file.__setitem__("a", h5py.SoftLink("/b")),
    "bytes of another file": lambda _, file: file.create_dataset("a", (4,), "u1", external=[("/etc/passwd", 0, 4)]),
    "nothing but a shape": lambda _, file: file.create_dataset("a", (1 << 20, 1 << 20), "f4", chunks=(1, 1)),
}


@pytest.mark.jax
@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_of_keras_files(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    h5py = pytest.importorskip("h5py", reason="Keras: scripts/test --jax installs it")
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        WEIGHTS[case](h5py, file)
    (tmp_path / "net.keras").write_bytes(archive(DENSE, content.getvalue()))
    done = tvmc(capsys, "compile", tmp_path / "net.keras", "-o", tmp_path / "net.tar")
    check_refused(done, ["holds weights"], "compile")


HEAD = "module { func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {"


def body(text: str, result: str = "%y") -> bytes:
    return f"{HEAD} {text} return {result} : tensor<2xf32> }} }}".encode()


STABLEHLO: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no function 'main'"),
    "noise": (bytes(range(256)), "neither MLIR bytecode nor text"),
    "only the magic": (b"ML\xefR", "no readable StableHLO"),
    "magic and noise": (b"ML\xefR" + bytes(range(256)), "no readable StableHLO"),
    "a claimed version": (b"ML\xefR\rStableHLO_v99.0.0\x00" + bytes(40), "no readable StableHLO"),
    "cut text": (HEAD.encode(), "no readable StableHLO"),
    "no main": (b"module { func.func @f() { return } }", "no function 'main'"),
    "too deep": (b"module { " + b"[" * 5000, "nested 5001 deep"),
    "an unknown operator": (body("%y = stablehlo.nothing %x : tensor<2xf32>"), "no readable StableHLO"),
    "wrong types": (body("%y = stablehlo.add %x, %x : tensor<3xf32>"), "no readable StableHLO"),
    "a value from nowhere": (body("%y = stablehlo.add %z, %x : tensor<2xf32>"), "no readable StableHLO"),
    "a call into nothing": (body("%y = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>"), "no readable StableHLO"),
    "a function that calls itself": (
        HEAD.replace(
            "module {",
            "module { func.func @g(%a: tensor<2xf32>) -> tensor<2xf32> { %b = func.call @g(%a) : "
            "(tensor<2xf32>) -> tensor<2xf32> return %b : tensor<2xf32> }",
        ).encode()
        + b" %y = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32> return %y : tensor<2xf32> } }",
        "call each other too deeply",
    ),
    "a huge tensor": (
        b"module { func.func public @main(%x: tensor<99999999999xf32>) -> tensor<99999999999xf32> { return %x : "
        b"tensor<99999999999xf32> } }",
        "not plausible",
    ),
    "a free shape": (
        b"module { func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> } }",
        "export the model with fixed shapes",
    ),
    "a host call": (
        body('%y = stablehlo.custom_call @run(%x) {backend_config = ""} : (tensor<2xf32>) -> tensor<2xf32>'),
        "cannot run on the device",
    ),
    "an endless loop": (
        body(
            "%t = stablehlo.constant dense<true> : tensor<i1> %y = stablehlo.while(%i = %x) : tensor<2xf32> cond { "
            "stablehlo.return %t : tensor<i1> } do { stablehlo.return %i : tensor<2xf32> }"
        ),
        "more than 1024 steps",
    ),
    "complex numbers": (
        b"module { func.func public @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> { return %x : "
        b"tensor<2xcomplex<f32>> } }",
        "values of type complex<f32>",
    ),
}


@pytest.mark.jax
@pytest.mark.parametrize("case", STABLEHLO)
def test_stablehlo_files(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], nothing_starts: list[str]
) -> None:
    pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")
    content, text = STABLEHLO[case]
    (tmp_path / "net.mlir").write_bytes(content)
    done = tvmc(capsys, "compile", tmp_path / "net.mlir", "-o", tmp_path / "net.tar")
    check_refused(done, [text], "compile")
    assert [p.name for p in tmp_path.iterdir()] == ["net.mlir"] and not nothing_starts
