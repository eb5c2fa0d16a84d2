"""`tvmc doctor`: compilers, simulators, extras and the build cache of this machine."""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.grouped import grouped
from tvm_pulp.plug_ins import installed_version
from tvm_pulp.tvmc.argument import argument

ARGUMENTS = (
    argument("--clean", action="store_true", help="empty the build cache, and remove what killed processes left"),
)

_PACKAGE = "tvm_pulp"
# `name>=1; extra == "dse"` of the package's metadata.
_EXTRA = re.compile(r"""([\w.-]+).*;.*\bextra == ['"](\w+)['"]""")
# Extras of contributors.
_OWN = ("dev",)


def run(args: argparse.Namespace) -> int:
    from tvm_pulp.toolchain.cache import VARIABLE, cache_directory, cached_files, clean_cache

    if args.clean:
        print(f"{clean_cache():,} bytes removed from {cache_directory()}")
        _remove_remains()
        return 0
    from tvm_pulp.tvmc.main import versions

    usable = True
    print(versions())
    print("compilers")
    for name, find, needed in _compilers():
        found = _found(find)
        usable &= found is not None or not needed
        print(f"  {name:22} {found or ('missing: pip install ziglang' if needed else 'not found; nothing needs it')}")
    print("simulators")
    is_built = find_spec("tvm_pulp._iss") is not None
    print(f"  {'iss':22} {'installed' if is_built else 'built at its first use'}")
    for name, find in _simulators():
        print(f"  {name:22} {_found(find) or f'not found; set {name.upper()}_HOME where it is installed'}")
    print("extras")
    for name, packages in extras().items():
        missing = [package for package in packages if installed_version(package) is None]
        absent = f"without {', '.join(missing)}: pip install '{_PACKAGE}[{name}]'"
        print(f"  {name:22} {absent if missing else 'installed'}")
    files = cached_files()
    size = sum(path.stat().st_size for path in files)
    print(f"build cache\n  {cache_directory()} (${VARIABLE}): {len(files):,} files, {size:,} bytes; --clean empties it")
    if not usable:
        print("tvmc doctor: nothing can be built for a chip here: pip install ziglang", file=sys.stderr)
    return 0 if usable else 1


def _remove_remains() -> None:
    """Remove what killed processes left in the folder of temporary files, and beside outputs."""
    from tvm_pulp.temporary import remove_abandoned

    count = sum(remove_abandoned(folder) for folder in (Path(tempfile.gettempdir()), Path.cwd()))
    if count:
        print(f"tvmc doctor: removed {count} temporary files and folders of killed processes", file=sys.stderr)


def extras() -> dict[str, list[str]]:
    """Packages that every extra brings, as the installed metadata states them."""
    try:
        stated = requires(_PACKAGE) or []
    except PackageNotFoundError:
        stated = []
    matches = filter(None, map(_EXTRA.match, stated))
    return grouped((match[2], match[1]) for match in matches if match[2] not in _OWN)


def _found(find: Callable[[], str]) -> str | None:
    """The answer of a search that raises where nothing is found."""
    try:
        return find()
    except UserError:
        return None


def _compilers() -> Iterator[tuple[str, Callable[[], str], bool]]:
    """Names of compilers, how each is found, and whether anything needs it."""
    from tvm_pulp.toolchain.host_cc import host_compiler
    from tvm_pulp.toolchain.riscv_compilers import RISCV_ISAS, find_riscv_gcc, zig_riscv_compiler

    yield "this machine", lambda: host_compiler().version, False
    yield "RISC-V, zig", lambda: zig_riscv_compiler(next(iter(RISCV_ISAS.values()))).version, True
    yield "RISC-V, GNU", find_riscv_gcc, False


def _simulators() -> Iterator[tuple[str, Callable[[], str]]]:
    from tvm_pulp.sim.gvsoc.installation import GvsocInstallation
    from tvm_pulp.sim.installations import EtissInstallation, Installation

    def described(kind: type[Installation]) -> str:
        found = kind.find({}, "")
        return f"{found.program}, {found.revision() or 'of an unknown revision'}"

    for kind in (GvsocInstallation, EtissInstallation):
        yield kind.simulator.lower(), lambda kind=kind: described(kind)  # type: ignore[misc]
