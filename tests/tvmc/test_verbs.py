"""compile, run, explain and targets on networks of the zoo."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import tvmc
from tvm_pulp.frontend import zoo
from tvm_pulp.tvmc.main import VERBS


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tvm_pulp.tvmc.main import main

    path = tmp_path_factory.mktemp("archive") / "dscnn.tar"
    assert main(["compile", "-q", "zoo:dscnn", "-o", str(path)]) == 0
    return path


@pytest.mark.parametrize("name", ["resnet8", "autoencoder", "tinyllama"])
def test_compile_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    archive, inputs, outputs = (tmp_path / f for f in ("net.tar", "in.npz", "out.npz"))
    compiled = tvmc(capsys, "compile", f"zoo:{name}", "--target=c", "--soc=host", "-o", archive)
    assert compiled.status == 0 and compiled.out == ""
    # Progress names the stages, the last lines what the network takes.
    for word in ("importing", "canonicalizing", "lowering", "emitting C", "constants  ", "RAM  ", "work  "):
        assert word in compiled.err
    given = zoo.sample_inputs(name, seed=1)
    np.savez(inputs, *given)
    report = tmp_path / "report.json"
    done = tvmc(capsys, "run", archive, "-i", inputs, "-o", outputs, "--report", report, "--repeat", "2")
    assert done.status == 0
    from tvm_pulp import compile

    expected = compile(f"zoo:{name}").run(given).outputs
    with np.load(outputs) as written:
        assert written.files == list(expected)
        for key in expected:
            np.testing.assert_array_equal(written[key], expected[key])
    figures = json.loads(report.read_text())
    assert figures["soc"] == "host" and figures["target"] == "c" and figures["cycles"] is None
    arena = figures["memory"]["arena"]
    assert f"arena {arena['peak']:,} bytes (largest live set {arena['largest_live_set']:,})" in " ".join(
        done.out.split()
    )
    assert sum(layer["macs"] for layer in figures["layers"]) == figures["macs"]
    keys = {"name", "op", "engine", "cycles", "estimated_cycles", "bound_cycles", "macs", "dma_bytes", "tiles"}
    assert all(keys <= layer.keys() for layer in figures["layers"])


def test_run_without_inputs_is_seeded(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.npz", "b.npz"):
        assert tvmc(capsys, "run", archive, "--outputs", tmp_path / name).status == 0
    with np.load(tmp_path / "a.npz") as a, np.load(tmp_path / "b.npz") as b:
        assert a.files == b.files == ["logits"]
        np.testing.assert_array_equal(a["logits"], b["logits"])


def test_inputs_match_by_name_in_any_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Several inputs of the same shape: only names tell them apart. Extra arrays do not matter.
    archive = tmp_path / "llama.tar"
    assert tvmc(capsys, "compile", "-q", "zoo:tinyllama", "-o", archive).status == 0
    from tvm_pulp import App

    names = [i["name"] for i in App.load(archive).metadata["tvm_pulp"]["inputs"]]
    given = dict(zip(names, zoo.sample_inputs("tinyllama", seed=4), strict=True))
    np.savez(tmp_path / "ordered.npz", **given)
    np.savez(tmp_path / "reversed.npz", another=np.zeros(3), **dict(reversed(given.items())))
    results = []
    for file in ("ordered.npz", "reversed.npz"):
        assert tvmc(capsys, "run", archive, "-i", tmp_path / file, "-o", tmp_path / "out.npz").status == 0
        with np.load(tmp_path / "out.npz") as out:
            results.append({name: out[name] for name in out.files})
    assert results[0].keys() == results[1].keys()
    for name in results[0]:
        np.testing.assert_array_equal(results[0][name], results[1][name])


def test_compile_dumps_every_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "dump"
    arguments = ["--dump-code", "relax,tir,c", "--dump-dir", folder, "--module-name", "net", "-o", tmp_path / "n.tar"]
    assert tvmc(capsys, "compile", "-q", "zoo:autoencoder", *arguments).status == 0
    assert {p.name for p in folder.iterdir()} == {
        *("main.relax.txt", "partitioned.relax.txt", "main.tir.txt", "net_kernels.c", "net_run.c", "net_weights.c"),
        *("net_kernels.h", "net_weights.h", "tvmgen_net.h", "main.c"),
    }
    assert "qnn.dense" in (folder / "main.relax.txt").read_text()
    assert '"Composite": "host.dense"' in (folder / "partitioned.relax.txt").read_text()


def test_compile_dumps_the_function_after_every_tir_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--dump-code=tir", "--dump-dir", tmp_path, "--soc=siracusa", "-o", tmp_path / "n.tar"]
    assert tvmc(capsys, "compile", "-q", "zoo:autoencoder", *arguments).status == 0
    stages = {path.name.removesuffix(".tir.txt"): path.read_text() for path in tmp_path.glob("*.tir.txt")}
    assert sorted(stages) == [
        "0_layers",
        "1_tile",
        "2_interleave",
        "3_bundle",
        "4_prefetch",
        "5_lay_out",
        "6_place",
        "7_kv_cache",
        "8_synchronise",
        "main",
    ]
    assert '"load"' not in stages["0_layers"] and '"buffer"' in stages["1_tile"]
    assert '"buffer"' not in stages["6_place"] and "barrier" not in stages["6_place"]
    assert stages["8_synchronise"] == stages["main"] and "barrier" in stages["main"]


def test_quiet_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finished = tvmc(capsys, "compile", "--quiet", "zoo:autoencoder", "-o", tmp_path / "n.tar")
    assert (finished.status, finished.out, finished.err) == (0, "", "")


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    finished = tvmc(capsys, "explain", "zoo:resnet8")
    assert finished.status == 0
    assert "conv2d" in finished.out and "12,501,632 MAC" in finished.out


def test_targets(capsys: pytest.CaptureFixture[str]) -> None:
    finished = tvmc(capsys, "targets")
    assert finished.status == 0
    for word in ("uma-neureka", "--target-uma-neureka-weight_memory", "siracusa", "host"):
        assert word in finished.out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    finished = tvmc(capsys, "--version")
    assert finished.status == 0 and finished.err == ""
    lines = finished.out.splitlines()
    assert lines[0] == f"tvm_pulp {tvm_pulp.__version__}" and lines[1].startswith("Python 3.")
    # What comes out depends on these too, so that a report of a bug states them.
    assert [line.split()[0] for line in lines[2:]] == ["apache-tvm", "onnx", "tflite", "ortools", "ziglang"]


@pytest.mark.parametrize("verb", ["compile", "explain", "plan"])
def test_help_states_the_defaults_of_target_and_soc(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    with pytest.raises(SystemExit):
        tvmc(capsys, verb, "--help")
    words = " ".join(capsys.readouterr().out.split())
    assert "default: c, no accelerator" in words and "for --target=c host, which is this machine" in words


def test_the_table_of_a_run_fits_80_columns(
    archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    finished = tvmc(capsys, "run", archive)
    assert finished.status == 0 and "block1_depthwise" in finished.out
    assert max(map(len, finished.out.splitlines())) <= 80 and "…" not in finished.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        tvmc(capsys, verb, "--help")
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: tvmc {verb}")


def test_help_is_instant() -> None:
    # The best of three, because other tests run beside this one.
    times = []
    for _ in range(3):
        started = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "tvm_pulp.tvmc.main", "--help"], capture_output=True, check=True)
        times.append(time.perf_counter() - started)
        assert done.stdout.startswith(b"usage: tvmc")
    assert min(times) < 0.5
