"""The archive: same input same bytes, memory that never overlaps, every kernel once."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.golden.deeploy_cases import read_case
from tvm_pulp.codegen import mlf
from tvm_pulp.errors import UserError

ZOO = ("resnet8", "mobilenetv1", "tinyllama", "vit_block")
DECLARATION = re.compile(r"^  \w+ \*(\w+) = .*\(arena \+ (\d+)\).*; /\* .*, (\d+) bytes \*/$", re.MULTILINE)
CALL = re.compile(r"^  (tvmgen_\w+)\((.*)\);$", re.MULTILINE)
FUNCTION = re.compile(r"^void (\w+)(\(.*?^\})", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Span:
    """A buffer as the C text shows it: bytes of the arena, first and last call that names it."""

    name: str
    begin: int
    end: int
    first: int
    last: int


def text(app: tvm_pulp.App, name: str) -> str:
    return app.files[f"codegen/host/{name}"].decode()


def spans(app: tvm_pulp.App) -> list[Span]:
    """Read back from run.c, which knows nothing of the planner."""
    source = text(app, "src/default_run.c")
    calls = [[a.strip() for a in arguments.split(",")] for _, arguments in CALL.findall(source)]
    assert len(calls) == len(app.metadata["tvm_pulp"]["layers"])
    found = []
    for name, offset, size in DECLARATION.findall(source):
        users = [index for index, arguments in enumerate(calls) if name in arguments]
        found.append(Span(name, int(offset), int(offset) + int(size), users[0], users[-1]))
    return found


def check_arena(app: tvm_pulp.App) -> None:
    buffers, memory = spans(app), app.metadata["memory"]
    assert buffers
    for one in buffers:
        assert one.begin % 16 == 0 and one.end <= memory["arena_bytes"]
        for other in buffers:
            together = one.first <= other.last and other.first <= one.last
            apart = one.end <= other.begin or other.end <= one.begin
            assert one is other or not together or apart, (one, other)
    steps = range(len(app.metadata["tvm_pulp"]["layers"]))
    peak = max(sum(b.end - b.begin for b in buffers if b.first <= step <= b.last) for step in steps)
    assert memory["largest_live_set_bytes"] == peak
    assert memory["functions"]["main"][0]["workspace_size_bytes"] == memory["arena_bytes"]
    assert f"#define TVMGEN_DEFAULT_ARENA_BYTES {memory['arena_bytes']}" in text(app, "include/tvmgen_default.h")


def check_kernels(app: tvm_pulp.App) -> int:
    """Every function text exists once and is called; returns how many there are."""
    functions = FUNCTION.findall(text(app, "src/default_kernels.c"))
    assert [body for body, count in Counter(body for _, body in functions).items() if count > 1] == []
    called = {name for name, _ in CALL.findall(text(app, "src/default_run.c"))}
    assert {name for name, _ in functions} == called
    return len(functions)


@pytest.mark.parametrize("name", ZOO)
def test_buffers_alive_together_never_overlap(name: str) -> None:
    check_arena(tvm_pulp.compile(f"zoo:{name}"))


@pytest.mark.parametrize(
    "name", ["Models/CCT/Int/ICCT", "Models/CCT/FP32/CCT_1_16_16_8", "Models/Transformer_DeepQuant"]
)
def test_buffers_of_golden_networks_never_overlap(golden_data: Path, name: str) -> None:
    # Among them float networks, whose kernels have workspaces.
    case = read_case(golden_data, name)
    check_arena(tvm_pulp.compile(case.network, sample_inputs=case.inputs))


def test_equal_kernels_exist_once() -> None:
    app = tvm_pulp.compile("zoo:tinyllama")
    # Two transformer blocks of the same shape: far fewer kernels than layers.
    assert check_kernels(app) <= 0.6 * len(app.metadata["tvm_pulp"]["layers"])
    check_kernels(tvm_pulp.compile("zoo:mobilenetv1"))


def test_kernels_of_a_long_network_exist_once(golden_data: Path) -> None:
    case = read_case(golden_data, "Models/microLlama/INT8/microLlama64")
    app = tvm_pulp.compile(case.network, sample_inputs=case.inputs)
    layers = len(app.metadata["tvm_pulp"]["layers"])
    assert layers > 100 and check_kernels(app) < 40


@pytest.mark.sample(1)
@pytest.mark.parametrize("arguments", [["zoo:resnet8"], ["zoo:vit_block"], ["zoo:resnet8", "--target=uma-neureka"]])
def test_same_bytes_from_another_process(tmp_path: Path, arguments: list[str]) -> None:
    archives = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.tar"
        command = [sys.executable, "-m", "tvm_pulp.tvmc.main", "compile", "-q", *arguments, "-o", str(path)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        archives.append(path.read_bytes())
    assert archives[0] == archives[1]


def test_parameters_are_the_constants_of_the_source() -> None:
    app = tvm_pulp.compile("zoo:resnet8")
    import io

    parameters = np.load(io.BytesIO(app.files["parameters/default.npz"]))
    header = text(app, "include/default_weights.h")
    assert {f"tvmgen_default_{name}" for name in parameters.files} == set(re.findall(r"(tvmgen_default_\w+)\[", header))
    assert sum(parameters[name].nbytes for name in parameters.files) == app.metadata["memory"]["constants_bytes"]


def test_archive_is_read_back(tmp_path: Path) -> None:
    app = tvm_pulp.compile("zoo:autoencoder", module_name="net")
    app.save(tmp_path / "net.tar")
    again = tvm_pulp.App.load(tmp_path / "net.tar")
    assert again.files == app.files
    np.testing.assert_array_equal(*(next(iter(a.run().outputs.values())) for a in (app, again)))
    assert "int32_t tvmgen_net_run(" in app.files["codegen/host/include/tvmgen_net.h"].decode()
    assert [p.name for p in tmp_path.iterdir()] == ["net.tar"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"not a tar file", "is not a readable archive"), (b"", "is not a readable archive")],
)
def test_anything_else_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "net.tar"
    path.write_bytes(content)
    with pytest.raises(UserError, match=expected):
        tvm_pulp.App.load(path)


@pytest.mark.parametrize("metadata", [b"{", b"[]", b'{"version": 1}', json.dumps({"version": 7}).encode()])
def test_foreign_metadata_is_refused(tmp_path: Path, metadata: bytes) -> None:
    mlf.write(tmp_path / "net.tar", {"metadata.json": metadata})
    with pytest.raises(UserError, match="recompile"):
        tvm_pulp.App.load(tmp_path / "net.tar")
    mlf.write(tmp_path / "other.tar", {"something": b""})
    with pytest.raises(UserError, match=r"no metadata\.json"):
        tvm_pulp.App.load(tmp_path / "other.tar")
