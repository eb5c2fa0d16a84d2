"""The import-layer check: a stage may import earlier stages, never later ones.

The table below is the one place that says which part of the project may know which. Imports inside functions and
under TYPE_CHECKING count like any other.
"""

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tvm_pulp.engine_names import engine_names
from tvm_pulp.public_paths import PUBLIC_PATHS

REPOSITORY = Path(__file__).resolve().parent.parent

# Parts of tvm_pulp in the order a model meets them, and why each stands where it does. A package whose parts stand at
# different places is named part by part.
STAGES = {
    "public_paths": "import paths of users; it knows names only",
    "errors": "every stage raises them",
    "machine_errors": "the same for what the machine refuses",
    "temporary": "folders that say whether their process lives",
    "output_files": "files that a user names, whoever writes them",
    "limits": "sizes that nothing which is read may exceed",
    "input_file": "opens what a user names as an input",
    "array_file": "arrays in files, within limits",
    "child_processes": "processes that others have started",
    "plug_ins": "what other packages bring, found where it is needed",
    "engine_names": "names of accelerators, before one is loaded",
    "garbage_collection": "a setting of Python while much is made that stays",
    "quick_records": "a kind of class for what is made by the hundred thousand",
    "grouped": "values by their keys",
    "window": "windows that move along an axis",
    "soc": "the machine is data; it knows no compiler",
    "option_values": "texts of the command line as values",
    "option": "an entry of the table of options",
    "compile_options": "the table of options: everything that a user may say about a compilation",
    "qnn": "the integer dialect is the language between all later stages",
    "frontend": "model file to Relax",
    "frontend.zoo": "example models; of the stages only the driver knows them",
    "frontend.quantize": "quantizes a float model with its framework, before anything is compiled",
    "canonicalize": "turns what every frontend gives into the dialect",
    "uma": "chooses regions per engine in canonical modules",
    "planning.lowering": "turns the canonical module into layers over named tensors",
    "planning.program": "the typed program and the plan as data: steps, transfers, jobs, kernels, waits",
    "planning.tiling": "cuts layers into tiles, schedules and places them: one plan from one set of decisions",
    "planning.tir": "lowers a plan to a program, and describes both",
    "planning.estimate": "runs a program on paper; knows no plan",
    "planning.check": "checks a described program; knows neither how it was made nor how it was estimated",
    "planning.cpu": "plans networks for a CPU by itself: forms, strips, parts for threads, places",
    "planning.search": "the driver of planning: tries decisions, calls all of the above, keeps the fastest plan",
    "planning": "names its parts",
    "codegen": "prints what planning made as C, and writes it as an archive",
    "toolchain": "builds what codegen printed; makes an archive a project",
    "_iss": "the compiled simulator",
    "sim": "runs what toolchain built; writes models for other simulators",
    "report": "shows what all of the above found out; compares it with what a framework computes",
    "target": "what a compilation is for, as data",
    "entry_point": "one program: calls the stages from a canonical module to C in order",
    "language_models": "decoders as networks with state: compiles and runs them, turns text into tokens and back",
    "compilation": "the driver: calls the stages from a model to an archive in order",
    "explain": "shows a plan and why it is so; plans what could be different about a model",
    "result": "what a run gave; compares it with what the model's framework computes",
    "live_progress": "shows a person what the driver is at",
    "app": "an archive and how it is run",
    "api": "the two lines most users need",
    "onnx_backend": "the same two lines as ONNX's interface of backends has them",
    "sim.crosscheck": "runs one program on several devices and compares",
    "uma.conformance": "drives an accelerator with random layers; any backend's tests call it",
    "dse": "calls the driver many times",
    "tvmc": "the command line calls everything",
    "tvmc.mlonmcu": "a plug-in for another tool, on top of the command line",
}

# Parts of a stage in their order: a part may import earlier ones of its stage, never later ones.
PARTS = {
    "planning.tiling": ("alignment", "cost", "forms", "schedule", "place", "plan"),
    "planning.search": (
        "constraint_model",
        "stated_order",
        "problem",
        "evaluate",
        "attempts",
        "moves",
        "seeds",
        "solver",
        "memory_limits",
        "stated_offers",
        "partition_network",
        "find_plan",
        "read_plan",
        "state_memory",
        "driver",
        "fits_l1",
    ),
}

# Stages that others reach only by the names their package states.
FACES = ("planning.lowering", "planning.cpu", "planning.estimate", "planning.check", "planning.search")

# What stands outside the stages: which stages, or parts of one, it may import, and why.
UP_TO_UMA = tuple(STAGES)[: tuple(STAGES).index("uma") + 1]
FOR_PLUGINS = (*UP_TO_UMA, "planning.tiling.cost", "planning.tiling.forms")
OUTSIDE = {
    "uma_backends": (FOR_PLUGINS, "an accelerator states patterns, tile limits and cost; it emits nothing"),
    "schedules": (FOR_PLUGINS, "the cores are described like an accelerator"),
    "c_runtime": ((), "data: C for a target cannot depend on the compiler"),
}

# Who decides what a program does: kernels, tiles, strips, addresses. Codegen prints plans and may name their records.
DECIDES = (
    *("planning.cpu", "planning.search", "planning.estimate", "planning.check"),
    *("planning.tiling.cost", "planning.tiling.forms", "planning.tiling.place"),
    *("planning.tiling.schedule.build_program", "uma.annotate", "uma.registry"),
)
RECORDS = ("planning.cpu.CpuPlan", "planning.cpu.LoweredCpuPlan", "planning.tiling.place.arena.Arena")

# The registry finds plug-ins; everybody else asks the registry.
PLUGIN_LOADER = "uma"

# Folders beside the accelerators that are none, and the accelerators that import them: any other one does without.
LIBRARIES = {"conv_array": ("ne16", "neureka")}


@dataclass(frozen=True)
class Import:
    """One import statement: the dotted name it reaches for, and where it stands."""

    target: str
    line: int


@functools.cache
def find_imports(source: str, module: str, is_package: bool) -> tuple[Import, ...]:
    """Every import of `source`, which is the text of `module`; relative imports are resolved."""
    return tuple(_read_imports(source, module, is_package))


def _read_imports(source: str, module: str, is_package: bool) -> Iterator[Import]:
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
        elif isinstance(node, ast.Call) and _called_name(node.func).endswith("import_module"):
            names = (argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant))
            yield from (Import(str(name), node.lineno) for name in names)


def _called_name(function: ast.expr) -> str:
    """The last part of the name of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def find_violation(module: str, target: str) -> str | None:
    """Return why `module` may not import `target`, or None when it may."""
    top, _, rest = target.partition(".")
    own_top, *own_rest = module.split(".")
    if top not in ("tvm_pulp", *OUTSIDE):
        return None
    if top != "tvm_pulp":
        folder = rest.split(".")[0]
        if own_top == "tvm_pulp":
            if folder in LIBRARIES:
                return f"{folder} is a library of {' and '.join(LIBRARIES[folder])}: the compiler knows nothing of it"
            if top == "c_runtime" or (own_rest and own_rest[0] == PLUGIN_LOADER):
                return None
            return f"only tvm_pulp.{PLUGIN_LOADER} may load {top}, through its registry"
        if own_top != top:
            return None if top == "c_runtime" else f"{own_top} and {top} are independent"
        if own_rest and own_rest[0] in LIBRARIES.get(folder, ()):
            return None
        if top == "uma_backends" and own_rest and folder and folder != own_rest[0]:
            return "any one accelerator can be deleted, so none may import another"
        return None
    names = rest.split(".")
    stage = stage_of(names)
    if stage is None:
        # A name of tvm_pulp itself. Its version is free; the rest is the driver under another name.
        if names[0].startswith("__"):
            return None
        stage = "api"
    inside = names[stage.count(".") + 1 :]
    if own_top != "tvm_pulp":
        allowed, reason = OUTSIDE[own_top]
        part = ".".join([stage, *inside[:1]])
        return None if stage in allowed or part in allowed else f"{own_top} may not use {part}: {reason}"
    if not own_rest:
        return None  # tvm_pulp/__init__.py re-exports the driver.
    own = stage_of(own_rest)
    if own is None:
        return f"tvm_pulp.{own_rest[0]} is not in the table of stages"
    order = list(STAGES)
    if order.index(stage) > order.index(own):
        return f"{own} comes before {stage} ({STAGES[stage]})"
    if stage == own:
        return find_part_violation(stage, own_rest[stage.count(".") + 1 :], inside)
    if stage in FACES and len(inside) > 1:
        return f"{stage} is reached by the names that tvm_pulp/{stage.replace('.', '/')}/__init__.py states"
    return None


def stage_of(names: list[str]) -> str | None:
    """The stage that a dotted name below tvm_pulp belongs to: the longest entry of the table that it begins with."""
    starts = (".".join(names[:length]) for length in (2, 1))
    return next((start for start in starts if start in STAGES), None)


def find_decision(module: str, target: str) -> str | None:
    """Return why a module of codegen may not import a target, or None when it may."""
    name = target.removeprefix("tvm_pulp.")
    if not module.startswith("tvm_pulp.codegen.") or name in RECORDS:
        return None
    found = next((part for part in DECIDES if f"{name}.".startswith(f"{part}.")), None)
    return None if found is None else f"codegen prints what {found} has decided"


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
        reason = find_violation(module, imported.target) or find_decision(module, imported.target)
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


def test_every_folder_is_an_accelerator_or_a_library() -> None:
    """An accelerator has an entry point; a library has none, so no list of targets shows it."""
    folders = {path.parent.name for path in (REPOSITORY / "uma_backends").glob("*/__init__.py")}
    entries = re.search(r"^BACKENDS = (\{.*\})$", (REPOSITORY / "setup.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert entries is not None
    assert folders - set(ast.literal_eval(entries[1])) == set(LIBRARIES)
    assert not set(LIBRARIES) & set(engine_names())


@pytest.mark.parametrize("stage", ["planning", "uma", "explain"])
def test_no_engine_is_named_where_all_are_planned(stage: str) -> None:
    folders = "|".join(path.parent.name for path in (REPOSITORY / "uma_backends").glob("*/__init__.py"))
    named = re.compile(rf"\b({folders})\b", re.IGNORECASE)
    files = (REPOSITORY / "tvm_pulp" / stage).rglob("*.py")
    assert [str(path) for path in files if named.search(path.read_text(encoding="utf-8"))] == []


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
    entries = (REPOSITORY / "tvm_pulp" / stage.replace(".", "/")).iterdir()
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
    assert parts - {"__init__"} <= set(STAGES) | {stage.split(".")[0] for stage in STAGES}


def test_the_tree_is_a_map_that_fits_one_screen() -> None:
    packages = [path.parent.name for path in (REPOSITORY / "tvm_pulp").glob("*/__init__.py")]
    assert len(packages) <= 14, packages


@pytest.mark.parametrize(("public", "place"), PUBLIC_PATHS.items())
def test_public_import_paths_stay(public: str, place: str) -> None:
    assert importlib.import_module(public) is importlib.import_module(place)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("tvm_pulp/soc/a.py", "from tvm_pulp.planning.tiling import plan", "soc comes before planning.tiling"),
        ("tvm_pulp/soc/a.py", "import tvm_pulp.sim", "soc comes before sim"),
        ("tvm_pulp/soc/a.py", "from tvm_pulp import codegen", "soc comes before codegen"),
        ("tvm_pulp/soc/a.py", "from ..codegen import c", "soc comes before codegen"),
        ("tvm_pulp/soc/__init__.py", "from ..codegen import c", "soc comes before codegen"),
        ("tvm_pulp/soc/a.py", "def f():\n    from tvm_pulp import compile", "soc comes before api"),
        (
            "tvm_pulp/soc/a.py",
            "import importlib\nimportlib.import_module('tvm_pulp.planning.tir.x')",
            "soc comes before planning.tir",
        ),
        ("tvm_pulp/helpers/a.py", "import tvm_pulp.soc", "not in the table"),
        (
            "tvm_pulp/planning/tiling/plan.py",
            "from uma_backends.neureka import cost",
            "only tvm_pulp.uma may load uma_backends",
        ),
        ("tvm_pulp/codegen/a.py", "import schedules.conv2d", "only tvm_pulp.uma may load schedules"),
        ("uma_backends/neureka/a.py", "from tvm_pulp.codegen import c", "uma_backends may not use codegen"),
        ("uma_backends/neureka/a.py", "from uma_backends.ita import cost", "none may import another"),
        ("uma_backends/neureka/a.py", "from uma_backends import ita", "none may import another"),
        ("uma_backends/conv_array/a.py", "from uma_backends.neureka import job", "none may import another"),
        ("uma_backends/ita/a.py", "from uma_backends.conv_array import modes", "none may import another"),
        ("tvm_pulp/uma/registry.py", "import uma_backends.conv_array", "the compiler knows nothing of it"),
        ("tvm_pulp/planning/tiling/forms/a.py", "from uma_backends import conv_array", "the compiler knows nothing"),
        ("uma_backends/neureka/a.py", "import schedules.conv2d", "independent"),
        ("schedules/a.py", "import tvm_pulp.sim", "schedules may not use sim"),
        (
            "schedules/a.py",
            "from tvm_pulp.planning.tiling.place import arena",
            "schedules may not use planning.tiling.place",
        ),
        (
            "tvm_pulp/planning/tiling/cost/a.py",
            "from tvm_pulp.planning.tiling.schedule import x",
            "planning.tiling.cost comes before",
        ),
        (
            "tvm_pulp/planning/search/attempts/a.py",
            "from ..solver import solve",
            "attempts comes before planning.search.solver",
        ),
        (
            "tvm_pulp/planning/tiling/extra.py",
            "from tvm_pulp.planning.tiling.cost import x",
            "not in the table of parts",
        ),
        (
            "tvm_pulp/planning/estimate/a.py",
            "from tvm_pulp.planning.check.races import Races",
            "planning.estimate comes before planning.check",
        ),
        (
            "tvm_pulp/codegen/a.py",
            "from tvm_pulp.planning.tiling.place.arena import plan_arena",
            "codegen prints what planning.tiling.place has decided",
        ),
        ("tvm_pulp/codegen/a.py", "from tvm_pulp.planning.cpu import plan_cpu", "codegen prints what planning.cpu has"),
        ("tvm_pulp/codegen/a.py", "from tvm_pulp.uma import registry", "codegen prints what uma.registry has decided"),
        ("tvm_pulp/report/a.py", "from tvm_pulp.planning.check.races import Races", "reached by the names that"),
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
            "tvm_pulp/planning/tiling/plan.py",
            "from tvm_pulp.soc import load\nfrom tvm_pulp import __version__\nimport c_runtime",
        ),
        ("tvm_pulp/planning/tiling/forms/a.py", "from ..cost import cycles\nfrom . import cuts"),
        ("tvm_pulp/uma/registry.py", "import importlib\nimportlib.import_module('uma_backends.neureka')"),
        ("tvm_pulp/tvmc/compile.py", "from tvm_pulp import compile\nfrom tvm_pulp.frontend.zoo import load"),
        (
            "uma_backends/neureka/a.py",
            "from tvm_pulp.uma import UMABackend\nimport tvm_pulp.planning.tiling.forms\nfrom . import b",
        ),
        (
            "uma_backends/neureka/a.py",
            "from uma_backends.conv_array.forms import b\nfrom uma_backends import conv_array",
        ),
        (
            "tvm_pulp/codegen/a.py",
            "from tvm_pulp.planning.cpu import CpuPlan\nfrom tvm_pulp.planning.tiling.place.arena import Arena",
        ),
        ("schedules/a.py", "import numpy\nfrom tvm_pulp.qnn import conv2d\nfrom schedules.tile import space"),
    ],
)
def test_proper_imports_pass(tmp_path: Path, file: str, text: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text + "\n")
    assert check_tree(tmp_path) == []
