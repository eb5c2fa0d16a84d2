"""The C compiler inside the `ziglang` wheel: for this machine and for RISC-V, without root."""

import functools
import importlib.util
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain.cache import cache_directory
from tvm_pulp.toolchain.compiler import Compiler, describe_driver

# Without -O, zig traps on undefined behaviour; the switch makes the choice independent of the optimisation level. When
# it links, zig would make a library of messages for such traps, which takes seconds for every kind of core.
NO_TRAPS = "-fno-sanitize=undefined"


@functools.cache
def find_zig() -> Path:
    """Return the zig executable of the installed wheel.

    It is started directly: `python -m ziglang` would add the start of an interpreter to every translation unit.
    """
    specification = importlib.util.find_spec("ziglang")
    for folder in (specification.submodule_search_locations or []) if specification else []:
        for name in ("zig", "zig.exe"):
            if (Path(folder) / name).is_file():
                return Path(folder) / name
    raise UserError("the C compiler package ziglang is not installed: run `pip install ziglang`")


def zig_compiler(
    compile_flags: tuple[str, ...], link_flags: tuple[str, ...] = (), *, script_suffix: str = ""
) -> Compiler:
    """Return zig's C compiler with the given flags; its own caches live below ours."""
    zig = str(find_zig())
    version, identity = describe_driver((zig,), "version")
    return Compiler(
        name="zig",
        command=(zig, "cc"),
        version=f"zig {version}",
        identity=identity,
        compile_flags=compile_flags,
        link_flags=link_flags,
        script_suffix=script_suffix,
        caches=cache_directory() / "zig",
    )
