"""The simulator and the models of accelerators, built with address and undefined-behaviour checks."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tvm_pulp import soc
from tvm_pulp.sim.iss.settings import simulator_settings

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# Not optimised: with these checks that takes longer than what it saves.
SANITIZE = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-strict-aliasing"]
SANITIZE += ["-ffp-contract=off", "-fPIC"]
# Accelerators of the machines that the driver makes, in its order.
MODELS = ("neureka", "ita", "qvanilla")
# What was freed is kept for a while; a small while, so that growth shows.
OPTIONS = "quarantine_size_mb=8"


def compiler() -> str:
    """A C compiler that can build such checks; a skip where there is none."""
    found = shutil.which("gcc") or shutil.which("clang")
    if found is None:
        pytest.skip("neither gcc nor clang is here: nothing can be built with address checks")
    return found


def build(folder: Path, sources: list[Path], output: str, *flags: str) -> Path:
    """Compile and link with the checks."""
    include = [REPOSITORY / "c_runtime/iss", REPOSITORY / "c_runtime/include", folder]
    common = [compiler(), *SANITIZE, *(f"-I{path}" for path in include)]

    def compile_one(source: Path) -> Path:
        made = folder / f"{output}-{source.stem}.o"
        subprocess.run([*common, "-c", str(source), "-o", str(made)], check=True)
        return made

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    target = folder / output
    subprocess.run([*common, *map(str, objects), "-o", str(target), "-lm", "-ldl", *flags], check=True)
    return target


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The driver with the simulator inside, the simulator as a library, the models of accelerators."""
    folder = tmp_path_factory.mktemp("sanitized")
    (folder / "default_settings.h").write_text(_default_settings())
    simulator = [path for path in sorted((REPOSITORY / "c_runtime/iss").glob("*.c")) if path.name != "module.c"]
    library = build(folder, simulator, "iss.so", "-shared")
    objects = [str(path) for path in sorted(folder.glob("iss.so-*.o"))]
    driver = build(
        folder, sorted((REPOSITORY / "tests/fuzz").glob("*.c")), "driver", *objects, "-lm", "-ldl", "-rdynamic"
    )
    models = {
        name: build(folder, sorted((REPOSITORY / f"uma_backends/{name}/model").glob("*.c")), f"{name}.so", "-shared")
        for name in MODELS
    }
    return {"driver": driver, "library": library, **models}


def _default_settings() -> str:
    """The numbers of the default SoC, for the driver in C."""
    settings = simulator_settings(soc.load("siracusa"), trace=False)
    names = ", ".join(f'"{name}"' for name in settings)
    values = ", ".join(map(str, settings.values()))
    arrays = (f"char *const default_names[] = {{{names}}}", f"int64_t default_values[] = {{{values}}}")
    return "".join(f"static const {array};\n" for array in arrays)


def environment_for(library: Path) -> dict[str, str]:
    """Of a Python process that loads such a library; a skip where that is not possible."""
    found, preload = compiler(), []
    for name in ("libasan.so", "libstdc++.so.6"):  # the second for exceptions of libraries that Python loads later
        asked = [found, f"-print-file-name={name}"]
        preload.append(subprocess.run(asked, capture_output=True, text=True).stdout.strip())
    if not Path(preload[0]).is_absolute():
        pytest.skip(f"{found} has no shared address checker that Python could load")
    added = {"LD_PRELOAD": " ".join(preload), "ASAN_OPTIONS": f"{OPTIONS}:detect_leaks=0"}
    added["TVM_PULP_ISS_LIBRARY"] = str(library)
    return os.environ | added
