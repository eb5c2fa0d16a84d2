"""A user's own accelerator in a separately installed package: discovered, simulated, used, reported."""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.uma.scaffold import create

ENGINE = "testdot"


class Installation:
    """A folder that holds nothing but the new package, in front of the import path of subprocesses."""

    def __init__(self, root: Path) -> None:
        self.package, self.site, self.root = root / ENGINE, root / "site", root
        self.run("-m", "tvm_pulp.tvmc.main", "uma", "create", ENGINE, "-o", str(self.package))
        pip = ("-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--no-index", "--target")
        self.run(*pip, str(self.site), str(self.package))

    def run(self, *arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(self.site)}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tvmc(self, *arguments: str) -> str:
        return self.run("-m", "tvm_pulp.tvmc.main", *arguments)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("third_party"))


def test_it_is_discovered_with_its_options(installation: Installation) -> None:
    text = installation.tvmc("targets")
    assert f"uma-{ENGINE}" in text and f"--target-uma-{ENGINE}-job_rows {{16,32,64}}" in text
    assert "uma-neureka" in text


def test_it_is_used_simulated_and_reported(installation: Installation) -> None:
    root = installation.root
    archive, report, outputs = root / "a.tar", root / "a.json", root / "a.npz"
    # The cores are faster here, so it has to be asked for.
    pin = f"--pin=dense1={ENGINE}"
    installation.tvmc("compile", "zoo:autoencoder", f"--target=uma-{ENGINE}", pin, "-q", "-o", str(archive))
    table = installation.tvmc("run", str(archive), "--report", str(report), "--outputs", str(outputs))
    assert ENGINE in table
    found = json.loads(report.read_text())
    assert found["soc"] == f"siracusa-{ENGINE}" and found["target"] == f"uma-{ENGINE}"
    engines = {layer["engine"] for layer in found["layers"]}
    assert ENGINE in engines and all(layer["cycles"] for layer in found["layers"])
    assert found["energy_model"]["terms_uj"][f"mac_{ENGINE}"] > 0
    expected = tvm_pulp.compile("zoo:autoencoder").run().outputs
    with np.load(outputs) as result:
        for name, array in expected.items():
            np.testing.assert_array_equal(result[name], array)


def test_explain_names_it(installation: Installation) -> None:
    text = installation.tvmc("explain", "--suggestions=0", "zoo:resnet8", f"--target=uma-{ENGINE}")
    assert f"not {ENGINE}: it has no conv2d" in text
    assert f"-> {ENGINE}, dense" in text or f"not {ENGINE}, dense: about" in text


@pytest.mark.sample(1)
@pytest.mark.parametrize("order", [(ENGINE, "neureka"), ("neureka", ENGINE)], ids="-".join)
def test_it_works_beside_neureka(installation: Installation, order: tuple[str, str]) -> None:
    """The one reads what the other made; the run itself compares its first inference with its second."""
    archive, report, outputs = (installation.root / f"both.{kind}" for kind in ("tar", "json", "npz"))
    # Whichever is named first: the SoC is the one that carries both.
    target = ",".join(f"uma-{engine}" for engine in order)
    pins = [f"--pin=dense{number}={engine}" for number, engine in enumerate(order, 1)]
    installation.tvmc("compile", "zoo:autoencoder", f"--target={target}", *pins, "-q", "-o", str(archive))
    installation.tvmc("run", str(archive), "--report", str(report), "--outputs", str(outputs))
    engines = {layer["name"]: layer["engine"] for layer in json.loads(report.read_text())["layers"]}
    assert (engines["dense1"], engines["dense2"]) == order
    with np.load(outputs) as result:
        for name, array in tvm_pulp.compile("zoo:autoencoder").run().outputs.items():
            np.testing.assert_array_equal(result[name], array)


@pytest.mark.slow
def test_its_own_tests_pass(installation: Installation) -> None:
    folder = installation.package
    text = installation.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder / "tests")
    )
    assert "2 passed" in text


def test_the_package_is_clean_code(installation: Installation) -> None:
    sources = [str(path) for path in installation.package.rglob("*.py") if "build" not in path.parts]
    settings = ["--isolated", "--line-length", "120", "--select", "E,F,W,B,UP,C4,SIM,RUF"]
    installation.run("-m", "ruff", "check", "--no-cache", *settings, *sources)


def test_without_the_package_the_engine_is_unknown(tmp_path: Path) -> None:
    """In a process of its own: other tests may know an engine of that name."""
    arguments = ["compile", "zoo:autoencoder", f"--target=uma-{ENGINE}", "-o", str(tmp_path / "a.tar")]
    command = [sys.executable, "-m", "tvm_pulp.tvmc.main", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not (tmp_path / "a.tar").exists()
    # Whoever follows docs/add_an_accelerator.md here has more engines than ours.
    assert re.search(rf"--target 'uma-{ENGINE}' is unknown: choose from c, .*uma-neureka", done.stderr)


@pytest.mark.parametrize("name", ["Bad", "1st", "a-b", "class", ""])
def test_bad_names_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot name an engine"):
        create(name, tmp_path / "new")


@pytest.mark.parametrize("name", ["neureka", "c", "cluster", "host"])
def test_names_that_are_taken_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"'{name}' cannot name a new engine: the name is taken"):
        create(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_page_and_the_command_install_alike(installation: Installation, repository: Path) -> None:
    """In a fresh environment: with build isolation, which brings the build tools."""
    page = (repository / "docs" / "add_an_accelerator.md").read_text(encoding="utf-8")
    commands = re.findall(r"pip install (.+)", page)
    assert commands == ["./dotter"] and ENGINE != "dotter"
    said = installation.tvmc("uma", "create", "another")
    assert "`pip install ./another`" in said
    build = tomllib.loads((installation.package / "pyproject.toml").read_text())["build-system"]
    assert any(need.startswith("setuptools") for need in build["requires"]) and "wheel" in build["requires"]


def test_a_job_needs_no_weights(installation: Installation) -> None:
    source = (installation.package / f"{ENGINE}_backend" / "dense.py").read_text()
    assert "weights=" not in source and "Job(ENGINE, description, JOB_WORDS, reads, (y,), macs=" in source


@pytest.mark.slow
def test_the_page_works_in_a_fresh_environment(repository: Path, tmp_path: Path) -> None:
    """Its first three commands, in an environment that holds nothing but this package and what it needs."""
    venv.create(tmp_path / "fresh", with_pip=True)
    programs = tmp_path / "fresh" / "bin"
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    # Packages of this environment are at hand, so that only the page's own package is built and installed.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site,) = (tmp_path / "fresh").glob("lib/python*/site-packages")
    (site / "here.pth").write_text("\n".join([*here, str(repository)]) + "\n")
    tool = programs / "tvmc"
    tool.write_text(f"#!{programs}/python\nimport sys\nfrom tvm_pulp.tvmc.main import main\nsys.exit(main())\n")
    tool.chmod(0o755)
    page = (repository / "docs" / "add_an_accelerator.md").read_text(encoding="utf-8")
    commands = re.findall(r"^```\n(tvmc uma create .*?)^```", page, re.S | re.M)[0]
    done = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "dotter" in done.stdout.split("uma-dotter on siracusa-dotter")[1]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exists already"):
        create("fine", tmp_path)
    with pytest.raises(UserError, match="does not exist: create it first"):
        create("fine", tmp_path / "a" / "b")
