"""What the wheel carries, what it asks for, and how fast the command line starts."""

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

C_SUFFIXES = {".c", ".h", ".S", ".in"}


def tracked_files(root: Path, *folders: str) -> list[Path]:
    """Files below the folders that belong to the source tree (what a build leaves behind does not)."""
    return [
        path
        for folder in folders
        for path in sorted((root / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel built from a copy of the tree, so that the tree itself stays clean."""
    copy = tmp_path_factory.mktemp("tree")
    for name in (
        "setup.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "NOTICE",
        "MANIFEST.in",
        "CHANGELOG.md",
        "constraints.txt",
    ):
        shutil.copy(repository / name, copy / name)
    (copy / "scripts").mkdir()
    shutil.copy(repository / "scripts" / "software_bill.py", copy / "scripts" / "software_bill.py")
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.o")
    for name in ("tvm_pulp", "uma_backends", "schedules", "c_runtime"):
        shutil.copytree(repository / name, copy / name, ignore=ignore)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", "out", "."]
    finished = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    (path,) = (copy / "out").glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.slow
def test_wheel_carries_every_source_and_data_file(wheel: zipfile.ZipFile) -> None:
    assert wheel.filename is not None
    tree = Path(wheel.filename).parent.parent
    names = set(wheel.namelist())
    wanted = [
        path.relative_to(tree).as_posix()
        for path in tracked_files(tree, "tvm_pulp", "uma_backends", "schedules", "c_runtime")
        if path.suffix in C_SUFFIXES | {".py", ".yaml"} or path.name == "py.typed"
    ]
    assert [name for name in wanted if name not in names] == []
    assert "c_runtime/include/tvm_pulp/peripheral.h" in names and "tvm_pulp/py.typed" in names
    assert not any(name.startswith("tests/") for name in names)


@pytest.mark.slow
def test_a_wheel_brings_what_is_compiled(wheel: zipfile.ZipFile, repository: Path) -> None:
    """One for all versions of Python and all C libraries from an old one on: the packaged compiler built it."""
    assert wheel.filename is not None
    assert re.search(r"-0\.2\.0-cp39-abi3-manylinux_2_17_\w+\.whl$", wheel.filename)
    built = {name for name in wheel.namelist() if name.endswith(".so")}
    engines = {path.parent.name for path in repository.glob("uma_backends/*/model")}
    assert built == {"tvm_pulp/_iss.abi3.so", *(f"tvm_pulp/_model_{engine}.abi3.so" for engine in engines)}
    for name in built:
        with wheel.open(name) as stream:
            needed = {f"{v.group()}" for v in re.finditer(rb"GLIBC_2\.(\d+)", stream.read()) if int(v[1]) > 17}
        assert needed == set(), name


@pytest.mark.slow
def test_a_wheel_of_another_architecture(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    for name in ("setup.py", "README.md", "LICENSE", "MANIFEST.in", "constraints.txt", "scripts/software_bill.py"):
        shutil.copy(repository / name, tmp_path / name)
    for name in ("c_runtime/include", "c_runtime/iss", "uma_backends/qvanilla"):
        shutil.copytree(repository / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tvm_pulp").mkdir()
    shutil.copy(repository / "tvm_pulp/__init__.py", tmp_path / "tvm_pulp/__init__.py")
    machine, other = 183, "aarch64"
    environment = {**os.environ, "TVM_PULP_WHEEL_ARCHITECTURE": other}
    subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel"], cwd=tmp_path, env=environment, check=True)
    (made,) = (tmp_path / "dist").glob(f"*_{other}.whl")
    with zipfile.ZipFile(made) as archive:
        for name in ("tvm_pulp/_iss.abi3.so", "tvm_pulp/_model_qvanilla.abi3.so"):
            assert int.from_bytes(archive.read(name)[18:20], "little") == machine, name


def test_the_version_stands_in_one_place(repository: Path) -> None:
    import tvm_pulp

    headings = re.findall(r"^## (.+)$", (repository / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased" and headings[1].startswith(f"{tvm_pulp.__version__} (")
    assert tvm_pulp.__version__ not in (repository / "setup.py").read_text()
    assert not re.search(r"^version", (repository / "pyproject.toml").read_text(), re.MULTILINE)


def test_the_readme_lists_the_extras(repository: Path) -> None:
    stated = re.findall(r"^    \"(\w+)\": (?:\[|[A-Z])", (repository / "setup.py").read_text(), re.MULTILINE)
    section = (repository / "README.md").read_text().split("## Install")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert sorted([*listed, "dev"]) == sorted(stated)


def test_tvm_versions_are_pinned_exactly() -> None:
    requirements = importlib.metadata.requires("tvm_pulp") or []
    pins = {requirement for requirement in requirements if requirement.startswith("apache-tvm")}
    assert pins == {"apache-tvm==0.27.0.post1", "apache-tvm-ffi==0.1.14.post1"}


def test_command_line_help_loads_no_heavy_library() -> None:
    # TVM alone takes seconds to import; asking for help must feel instant.
    code = (
        "import sys; from tvm_pulp.tvmc.main import main; main(['--help']); "
        "print(*sorted({'tvm', 'numpy', 'onnx', 'ortools', 'rich', 'pydantic'} & set(sys.modules)), file=sys.stderr)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.startswith("usage: tvmc")
    assert finished.stderr.strip() == ""


def test_every_c_file_names_its_license(repository: Path) -> None:
    files = [path for path in tracked_files(repository, "c_runtime", "uma_backends") if path.suffix in C_SUFFIXES]
    assert files
    unmarked = [str(path) for path in files if "SPDX-License-Identifier: Apache-2.0" not in path.read_text()[:200]]
    assert unmarked == []


def test_source_files_stay_small(repository: Path) -> None:
    # A file that does not fit into one reader's head gets split.
    files = tracked_files(repository, "tvm_pulp", "uma_backends", "schedules", "c_runtime", "tests")
    limit = 500
    # Golden ones are emitted: as long as their network.
    emitted = repository / "tests/codegen/golden"
    written = [p for p in files if p.suffix in C_SUFFIXES | {".py"} and not p.is_relative_to(emitted)]
    sizes = {path: len(path.read_text().splitlines()) for path in written}
    assert {str(path): size for path, size in sizes.items() if size > limit} == {}


@pytest.mark.slow
def test_a_wheel_lists_what_it_is_made_of(wheel: zipfile.ZipFile, repository: Path) -> None:
    (bill,) = (json.loads(wheel.read(name)) for name in wheel.namelist() if name.endswith("sboms/tvm_pulp.cdx.json"))
    assert any(name.endswith("licenses/NOTICE") for name in wheel.namelist())
    versions = {part["name"]: part.get("version") for part in bill["components"]}
    names = {canonicalize_name(Requirement(one).name) for one in requirements("")}
    assert names <= set(versions) and all(versions[name] for name in names)


def load_bill(repository: Path) -> Any:
    spec = importlib.util.spec_from_file_location("software_bill", repository / "scripts" / "software_bill.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.software_bill


def requirements(extra: str) -> list[str]:
    """What the installed package asks for, with an extra or without any, as setup.py states it."""
    found = map(Requirement, importlib.metadata.requires("tvm_pulp") or [])
    stated = []
    for one in found:
        if (one.marker is None) == (extra == "") and (one.marker is None or one.marker.evaluate({"extra": extra})):
            one.marker = None
            stated.append(str(one))
    return stated


def test_a_bill_of_materials_names_versions(repository: Path) -> None:
    stated = ["numpy>=2", "nowhere"]
    bill = load_bill(repository)("1.0", stated, repository / "constraints.txt")
    assert bill == load_bill(repository)("1.0", stated[::-1], repository / "constraints.txt")
    numpy, nowhere = sorted(json.loads(bill)["components"][:2], key=lambda part: len(part["name"]))
    assert numpy["purl"] == f"pkg:pypi/numpy@{numpy['version']}" and "version" not in nowhere


def test_the_lock_file_fits_what_is_asked_for(repository: Path) -> None:
    """Every package that the environment of the tests asks for is locked to a version that fits, by digests."""
    text = (repository / "constraints.txt").read_text(encoding="utf-8")
    locked: dict[str, list[str]] = {}
    for name, version, rest in re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)(.*\n(?: +.*\n)+)", text, re.MULTILINE):
        assert "--hash=sha256:" in rest, f"{name} has no digest"
        locked.setdefault(name, []).append(version)
    for one in map(Requirement, (*requirements(""), *requirements("dev"))):
        name = canonicalize_name(one.name)
        assert name in locked and all(one.specifier.contains(v) for v in locked[name]), f"{one}: run scripts/lock"
