"""The import-layer check: a stage may import earlier stages, never later ones.

The table below is the one place that says which part of the project may know which. Imports inside functions and
under TYPE_CHECKING count like any other.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# Parts of tvm_pulp in the order a model meets them, and why each stands where it does.
STAGES = {
    "errors": "every stage raises them",
    "formats": "plan.json and report.json as typed data; whoever writes or reads one checks it",
    "soc": "the machine is data; it knows no compiler",
    "qnn": "the integer dialect is the language between all later stages",
    "frontend": "model file to Relax",
    "canonicalize": "turns what every frontend gives into the dialect",
    "uma": "chooses regions per engine in canonical modules",
    "lowering": "turns the canonical module into layers over named tensors",
    "tiling": "cuts layers into tiles, schedules and places them: one plan from one set of decisions",
    "tir": "lowers a plan to a program, and describes both",
    "estimate": "runs a described program on paper; knows no plan",
    "verify": "checks a described program; knows neither how it was made nor how it was estimated",
    "planning": "the driver: tries decisions, calls all of the above, keeps the fastest plan",
    "codegen": "prints what tir made as C",
    "toolchain": "builds what codegen printed; knows C, not networks",
    "project": "makes an archive a project: CMake files, an example, a page; and builds its ELF",
    "_iss": "the compiled simulator",
    "sim": "runs what toolchain built",
    "plugin": "writes models for other simulators",
    "report": "shows what all of the above found out",
    "agreement": "compares what layers computed with what a framework computes",
    "post_training": "quantizes a float model with its framework, before anything is compiled",
    "decoder": "language models as arrays, as networks of the dialect, and the C around their programs",
    "zoo": "example models; no stage may depend on one",
    "result": "what a run gave; compares it with what the model's framework computes",
    "target": "what a compilation is for: calls planning and emission for a SoC",
    "generation": "compiles language models, runs them, turns text into tokens and back",
    "suggestions": "plans what could be different about a model",
    "api": "the driver: calls the stages in order",
    "explain_model": "shows what the driver makes of a model, and why",
    "crosscheck": "runs one program on several devices and compares",
    "conformance": "drives an accelerator with random layers; any backend's tests call it",
    "dse": "calls the driver many times",
    "tvmc": "the command line calls everything",
    "mlonmcu": "a plug-in for another tool, on top of the command line",
}

# Parts of a stage in their order: a part may import earlier ones of its stage, never later ones.
PARTS = {
    "tiling": ("alignment", "cost", "forms", "schedule", "place", "plan", "make_plan"),
    "planning": (
        "garbage_collection",
        "attempts",
        "heuristics",
        "solver",
        "memory_limits",
        "smallest_size",
        "cover",
        "partition_network",
        "find_plan",
        "read_plan",
        "state_memory",
        "driver",
    ),
}

# Stages that others reach only by the names their package states.
FACES = ("formats", "lowering", "estimate", "verify", "planning")

# What stands outside the stages: which stages, or parts of one, it may import, and why.
UP_TO_UMA = tuple(STAGES)[: tuple(STAGES).index("uma") + 1]
FOR_PLUGINS = (*UP_TO_UMA, "tiling.cost", "tiling.forms")
OUTSIDE = {
    "uma_backends": (FOR_PLUGINS, "an accelerator states patterns, tile limits and cost; it emits nothing"),
    "schedules": (FOR_PLUGINS, "the cores are described like an accelerator"),
    "c_runtime": ((), "data: C for a target cannot depend on the compiler"),
}

# The registry finds plug-ins; everybody else asks the registry.
PLUGIN_LOADER = "uma"


@dataclass(frozen=True)
class Import:
    """One import statement: the dotted name it reaches for, and where it stands."""

    target: str
    line: int


def find_imports(source: str, module: str, is_package: bool) -> Iterator[Import]:
    """Yield every import of `source`, which is the text of `module`; relative imports are resolved."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            parent = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parent, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(f"{base}.{alias.name}", node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = (argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant))
            yield from (Import(str(name), node.lineno) for name in names)


def find_violation(module: str, target: str) -> str | None:
    """Return why `module` may not import `target`, or None when it may."""
    top, _, rest = target.partition(".")
    own_top, *own_rest = module.split(".")
    if top not in ("tvm_pulp", *OUTSIDE):
        return None
    if top != "tvm_pulp":
        if own_top == "tvm_pulp":
            if top == "c_runtime" or (own_rest and own_rest[0] == PLUGIN_LOADER):
                return None
            return f"only tvm_pulp.{PLUGIN_LOADER} may load {top}, through its registry"
        if own_top != top:
            return None if top == "c_runtime" else f"{own_top} and {top} are independent"
        folder = rest.split(".")[0]
        if top == "uma_backends" and own_rest and folder and folder != own_rest[0]:
            return "any one accelerator can be deleted, so none may import another"
        return None
    stage = rest.split(".")[0]
    if stage not in STAGES:
        # A name of tvm_pulp itself. Its version is free; the rest is the driver under another name.
        if stage.startswith("__"):
            return None
        stage = "api"
    if own_top != "tvm_pulp":
        allowed, reason = OUTSIDE[own_top]
        part = ".".join(rest.split(".")[:2])
        return None if stage in allowed or part in allowed else f"{own_top} may not use {part}: {reason}"
    if not own_rest:
        return None  # tvm_pulp/__init__.py re-exports the driver.
    if own_rest[0] not in STAGES:
        return f"tvm_pulp.{own_rest[0]} is not in the table of stages"
    order = list(STAGES)
    if order.index(stage) > order.index(own_rest[0]):
        return f"{own_rest[0]} comes before {stage} ({STAGES[stage]})"
    if stage == own_rest[0]:
        return find_part_violation(stage, own_rest[1:], rest.split(".")[1:])
    if stage in FACES and rest.split(".")[1:2] and len(rest.split(".")) > 2:
        return f"{stage} is reached by the names that tvm_pulp/{stage}/__init__.py states"
    return None


def find_part_violation(stage: str, own: list[str], target: list[str]) -> str | None:
    """Return why a part of a stage may not import another part, or None when it may."""
    parts = PARTS.get(stage)
    if parts is None or not own or not target or target[0] not in parts:
        return None
    if own[0] not in parts:
        return f"{stage}.{own[0]} is not in the table of parts"
    if parts.index(target[0]) > parts.index(own[0]):
        return f"{stage}.{own[0]} comes before {stage}.{target[0]}"
    return None


def find_circle(root: Path) -> list[str]:
    """Return modules that import each other in a circle, or nothing."""
    modules: dict[str, Path] = {}
    for top in ("tvm_pulp", *OUTSIDE):
        for path in sorted((root / top).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    waits: dict[str, set[str]] = {}
    for module, path in modules.items():
        found = find_imports(path.read_text(encoding="utf-8"), module, path.stem == "__init__")
        names = {i.target if i.target in modules else i.target.rpartition(".")[0] for i in found}
        waits[module] = {n for n in names if n in modules and n != module}
    while free := [module for module, names in waits.items() if not names]:
        for module in free:
            del waits[module]
        for names in waits.values():
            names.difference_update(free)
    # What is left waits for a circle or is part of one: follow it until something comes again.
    seen: list[str] = []
    here = next(iter(waits), None)
    while here is not None and here not in seen:
        seen.append(here)
        here = min(waits[here])
    return seen[seen.index(here) :] if here is not None else []


def check_file(path: Path, root: Path) -> list[str]:
    """Return one line per violation in a file."""
    parts = path.relative_to(root).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    module = ".".join(parts[:-1] if is_package else parts)
    found = []
    for imported in find_imports(path.read_text(encoding="utf-8"), module, is_package):
        reason = find_violation(module, imported.target)
        if reason is not None:
            found.append(f"{path.relative_to(root)}:{imported.line}: imports {imported.target}: {reason}")
    return found


def check_tree(root: Path) -> list[str]:
    """Return all violations of a source tree."""
    files = (path for top in ("tvm_pulp", *OUTSIDE) for path in sorted((root / top).rglob("*.py")))
    return [line for path in files for line in check_file(path, root)]


def test_the_source_tree_keeps_its_layers() -> None:
    assert check_tree(REPOSITORY) == []


def test_no_module_imports_itself_through_others() -> None:
    assert find_circle(REPOSITORY) == []


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "tvm_pulp" / "soc"
    folder.mkdir(parents=True)
    for name, text in {"a": "import tvm_pulp.errors", "b": "from . import c", "c": "from .d import x", "d": ""}.items():
        (folder / f"{name}.py").write_text(text + "\n")
    assert find_circle(tmp_path) == []
    (folder / "d.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import y\n")
    assert sorted(find_circle(tmp_path)) == ["tvm_pulp.soc.b", "tvm_pulp.soc.c", "tvm_pulp.soc.d"]


@pytest.mark.parametrize("stage", PARTS)
def test_every_part_is_in_the_table(stage: str) -> None:
    entries = (REPOSITORY / "tvm_pulp" / stage).iterdir()
    parts = {path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert parts - {"__init__"} == set(PARTS[stage])


def public_packages() -> list[str]:
    """Packages of tvm_pulp that hold Python."""
    found = sorted(path.parent for path in (REPOSITORY / "tvm_pulp").rglob("__init__.py"))
    return [".".join(path.relative_to(REPOSITORY).parts) for path in found]


@pytest.mark.parametrize("package", public_packages())
def test_a_package_states_its_public_names(package: str) -> None:
    """`__all__` is there, sorted as the linter sorts it, and every name is something: a value or a module."""
    module = importlib.import_module(package)
    assert module.__all__
    assert module.__doc__
    for name in module.__all__:
        if not hasattr(module, name):
            importlib.import_module(f"{package}.{name}")


def test_every_stage_of_the_tree_is_in_the_table() -> None:
    entries = (REPOSITORY / "tvm_pulp").iterdir()
    parts = {path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert parts - {"__init__"} <= set(STAGES)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("tvm_pulp/soc/a.py", "from tvm_pulp.tiling import plan", "soc comes before tiling"),
        ("tvm_pulp/soc/a.py", "import tvm_pulp.sim", "soc comes before sim"),
        ("tvm_pulp/soc/a.py", "from tvm_pulp import codegen", "soc comes before codegen"),
        ("tvm_pulp/soc/a.py", "from ..codegen import c", "soc comes before codegen"),
        ("tvm_pulp/soc/__init__.py", "from ..codegen import c", "soc comes before codegen"),
        ("tvm_pulp/soc/a.py", "def f():\n    from tvm_pulp import compile", "soc comes before api"),
        ("tvm_pulp/soc/a.py", "import importlib\nimportlib.import_module('tvm_pulp.tir.x')", "soc comes before tir"),
        ("tvm_pulp/helpers/a.py", "import tvm_pulp.soc", "not in the table"),
        ("tvm_pulp/tiling/plan.py", "from uma_backends.neureka import cost", "only tvm_pulp.uma may load uma_backends"),
        ("tvm_pulp/codegen/a.py", "import schedules.conv2d", "only tvm_pulp.uma may load schedules"),
        ("uma_backends/neureka/a.py", "from tvm_pulp.codegen import c", "uma_backends may not use codegen"),
        ("uma_backends/neureka/a.py", "from uma_backends.ita import cost", "none may import another"),
        ("uma_backends/neureka/a.py", "from uma_backends import ita", "none may import another"),
        ("uma_backends/neureka/a.py", "import schedules.conv2d", "independent"),
        ("schedules/a.py", "import tvm_pulp.sim", "schedules may not use sim"),
        ("schedules/a.py", "from tvm_pulp.tiling.place import arena", "schedules may not use tiling.place"),
        ("tvm_pulp/tiling/cost/a.py", "from tvm_pulp.tiling.schedule import x", "tiling.cost comes before"),
        ("tvm_pulp/planning/attempts/a.py", "from ..solver import solve", "attempts comes before planning.solver"),
        ("tvm_pulp/tiling/extra.py", "from tvm_pulp.tiling.cost import x", "not in the table of parts"),
        ("tvm_pulp/estimate/a.py", "from tvm_pulp.verify.races import Races", "estimate comes before verify"),
        ("tvm_pulp/report/a.py", "from tvm_pulp.verify.races import Races", "reached by the names that"),
    ],
)
def test_planted_violation_is_found(tmp_path: Path, file: str, text: str, expected: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(f"import ast\n{text}\n")
    (line,) = check_tree(tmp_path)
    assert line.startswith(f"{file}:") and expected in line


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "tvm_pulp/tiling/plan.py",
            "from tvm_pulp.soc import load\nfrom tvm_pulp import __version__\nimport c_runtime",
        ),
        ("tvm_pulp/tiling/forms/a.py", "from ..cost import cycles\nfrom . import cuts"),
        ("tvm_pulp/uma/registry.py", "import importlib\nimportlib.import_module('uma_backends.neureka')"),
        ("tvm_pulp/tvmc/compile.py", "from tvm_pulp import compile\nfrom tvm_pulp.zoo import load"),
        (
            "uma_backends/neureka/a.py",
            "from tvm_pulp.uma import UMABackend\nimport tvm_pulp.tiling.forms\nfrom . import b",
        ),
        ("schedules/a.py", "import numpy\nfrom tvm_pulp.qnn import conv2d\nfrom schedules.tile import space"),
    ],
)
def test_proper_imports_pass(tmp_path: Path, file: str, text: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text + "\n")
    assert check_tree(tmp_path) == []
