"""`tvmc plugin`: folders that build against an installation; a third party's engine without a line changed."""

import ast
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.c_runtime.plugins.built import HERE
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.uma.scaffold import create


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GVSOC_HOME", "ETISS_HOME"):
        monkeypatch.delenv(variable, raising=False)


def build(folder: Path, *variables: str) -> None:
    done = subprocess.run(["make", "-C", str(folder), *variables], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def headers(folder: Path, simulator: str) -> Path:
    """An installation that has headers and an empty library."""
    home = folder / "home"
    stand_in = HERE / f"{simulator}_stand_in"
    if simulator == "gvsoc":
        shutil.copytree(stand_in / "vp", home / "core" / "engine" / "include" / "vp")
        library = home / "install" / "lib" / "libpulpvp.so"
    else:
        shutil.copytree(stand_in / "etiss", home / "include" / "etiss")
        library = home / "lib" / "libETISS.so"
    library.parent.mkdir(parents=True)
    empty = folder / "empty.c"
    empty.write_text("int tvm_pulp_empty;\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(empty), "-o", str(library)], check=True)
    return home


@pytest.mark.sample(1)
@pytest.mark.skipif(shutil.which("make") is None or shutil.which("c++") is None, reason="needs make and a C++ compiler")
@pytest.mark.parametrize("simulator", ["gvsoc", "etiss"])
def test_a_plugin_builds(simulator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Adapter and models, by the Makefile that was written."""
    folder = tmp_path / "plugin"
    done = tvmc(capsys, "plugin", simulator, "-o", folder)
    assert done.status == 0 and f"for {simulator}" in done.err
    (engine,) = json.loads((folder / "engines.json").read_text())
    home = headers(tmp_path, simulator)
    variable = f"GVSOC_SOURCES={home}" if simulator == "gvsoc" else f"ETISS_HOME={home}"
    build(folder, variable)
    assert (folder / "lib" / f"{engine['name']}.so").is_file()
    adapters = [f"PluginImpl/libtvm_pulp_{engine['name']}.so"]
    if simulator == "gvsoc":
        adapters = ["tvm_pulp/peripheral.so", "tvm_pulp/hyperram.so"]
    assert all((folder / "lib" / name).is_file() for name in adapters)
    for path in folder.glob("*.py"):
        ast.parse(path.read_text())


@pytest.mark.parametrize(
    ("simulator", "description", "base"), [("gvsoc", "soc.yaml", 0x10201C00), ("etiss", "soc_mcu.yaml", 0x70010000)]
)
def test_a_scaffolded_engine_becomes_a_plugin(
    simulator: str,
    description: str,
    base: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create("dotter", tmp_path / "dotter")
    info = tmp_path / "dotter" / "dotter_backend.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: dotter-backend\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[tvm_pulp.uma_backends]\ndotter = dotter_backend:DotterBackend\n")
    monkeypatch.syspath_prepend(str(tmp_path / "dotter"))
    from tvm_pulp.uma import registry

    for function in vars(registry).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    folder, soc = tmp_path / "plugin", tmp_path / "dotter" / "dotter_backend" / description
    done = tvmc(capsys, "plugin", simulator, "-o", folder, "--soc", soc, "--engine", "dotter")
    for function in vars(registry).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    assert done.status == 0, done.err
    (engine,) = json.loads((folder / "engines.json").read_text())
    assert engine["base"] == base and engine["parameters"] == {"macs_per_cycle": 16}
    written = (folder / "models" / "dotter" / "dotter.c").read_bytes()
    assert written == (tmp_path / "dotter" / "dotter_backend" / "model" / "dotter.c").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verilator"], ["no plug-in for 'verilator'", "etiss or gvsoc"]),
        (["gvsoc", "--engine", "ita"], ["--engine ita", "it has neureka"]),
        (["gvsoc", "--soc", "rv32-mcu"], ["--soc rv32-mcu", "siracusa-gvsoc"]),
        (["etiss", "--soc", "siracusa"], ["--soc siracusa", "rv32-mcu"]),
        (["gvsoc", "--soc", "host"], ["--soc host"]),
        (["gvsoc", "--home", "x"], ["--home", "--build"]),
    ],
)
def test_what_cannot_be_made(
    arguments: list[str], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(tvmc(capsys, "plugin", *arguments, "-o", tmp_path / "plugin"), words, "plugin")


@pytest.mark.parametrize(("simulator", "variable"), [("gvsoc", "GVSOC_HOME"), ("etiss", "ETISS_HOME")])
def test_building_needs_an_installation(
    simulator: str, variable: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = tvmc(capsys, "plugin", simulator, "-o", tmp_path / "a", "--build")
    check_refused(done, [f"--home is not set; ${variable} is not set", "--home=DIR"], "plugin")
    assert not (tmp_path / "a").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    check_refused(tvmc(capsys, "plugin", simulator, "-o", tmp_path / "full"), ["is there already"], "plugin")
