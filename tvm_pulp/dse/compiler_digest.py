"""One digest of everything that the compiler is made of: rows of another compiler are not taken for this one's."""

import importlib.util
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tvm_pulp.plug_ins import installed_version
from tvm_pulp.toolchain.cache import digest_of

_PACKAGES = ("tvm_pulp", "uma_backends", "schedules", "c_runtime")
_SUFFIXES = (".py", ".yaml", ".c", ".h", ".S", ".in", ".npz", ".json")
_TOOLS = ("apache-tvm", "ortools", "ziglang", "numpy")
# Parts that show and drive: they change no row.
_APART = ("dse", "tvmc", "mlonmcu", "conformance")


@cache
def compiler_digest() -> str:
    """A digest over the sources of the compiler, its runtime and installed accelerators, and versions of its tools."""
    parts: list[str | bytes] = [f"{tool} {installed_version(tool) or 'is not installed'}" for tool in _TOOLS]
    for folder in _folders():
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            is_apart = folder.name == "tvm_pulp" and inside.parts[0] in _APART
            if path.suffix in _SUFFIXES and path.is_file() and not is_apart:
                parts += [f"{folder.name}/{inside.as_posix()}", path.read_bytes()]
    return digest_of(parts)


def _folders() -> Iterator[Path]:
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec is not None else []:
            yield Path(place)
    from tvm_pulp.uma import registry

    for name in registry.names():
        source = Path(inspect.getfile(type(registry.backend(name)))).parent
        if source.parent.name not in _PACKAGES:
            yield source
