"""A SoC with two accelerators: NEUREKA and the engine that `tvmc uma create` writes, installed for this process."""

import importlib
import sys
from collections.abc import Mapping
from functools import cache

from tests.process_folder import process_folder
from tvm_pulp import soc
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.soc import Soc
from tvm_pulp.target import Target
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.registry import backend
from tvm_pulp.uma.scaffold import create

ENGINE = "testdot"
BOTH = (ENGINE, "neureka")


@cache
def scaffold(name: str, changes: tuple[tuple[str, str, str], ...] = ()) -> UMABackend:
    """The scaffold's engine, found by its entry point as if installed; `changes` are (file, text, other text)."""
    folder = process_folder() / name
    create(name, folder)
    for file, text, other in changes:
        path = folder / f"{name}_backend" / file
        assert text in path.read_text()
        path.write_text(path.read_text().replace(text, other))
    facts = folder / f"{name}_backend-0.1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-backend\nVersion: 0.1.0\n")
    entry = f"{name} = {name}_backend:{name.capitalize()}Backend"
    (facts / "entry_points.txt").write_text(f"[tvm_pulp.uma_backends]\n{entry}\n")
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    return backend(name)


def dotter() -> UMABackend:
    """The engine beside NEUREKA in these tests."""
    return scaffold(ENGINE)


def soc_with_both(macs_per_cycle: int = 16) -> Soc:
    """Siracusa with the scaffold's engine beside NEUREKA."""
    made = soc.load(dotter().default_soc)
    return made.with_settings({f"engines.{ENGINE}.parameters.macs_per_cycle": macs_per_cycle})


def target_with_both(
    pins: Mapping[str, str] | None = None,
    *,
    macs_per_cycle: int = 16,
    weight_memory: str = "sram",
    cores: int = 8,
    l1: int | None = None,
    double_buffer: bool = True,
) -> Target:
    """A target with both accelerators."""
    first, second = dotter(), backend("neureka")
    engines = ((first, first.options({})), (second, second.options({"weight_memory": weight_memory})))
    options = CompileOptions(double_buffer=double_buffer)
    return Target(soc_with_both(macs_per_cycle), engines, cores, pins or {}, options, l1_limit=l1)
