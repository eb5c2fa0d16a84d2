"""The C compiler for this machine: $CC, cc, gcc or clang, else the one inside the `ziglang` wheel."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain.compiler import Compiler, describe_driver
from tvm_pulp.toolchain.zig import NO_TRAPS, zig_compiler

CANDIDATES = ("cc", "gcc", "clang")

# -ffp-contract=off: float results must equal those of the simulated core, with or without fused multiply-add.
COMPILE_FLAGS = ("-O2", "-g0", "-std=c11", "-fno-strict-aliasing", "-ffp-contract=off")


def _find_driver() -> tuple[str, ...] | None:
    """Return the command of a native compiler, or None when there is none."""
    chosen = shlex.split(os.environ.get("CC", ""))
    if chosen:
        found = shutil.which(chosen[0])
        if found is None:
            raise UserError(f"CC names '{chosen[0]}', which is not an executable: correct it or unset it")
        return (str(Path(found).absolute()), *chosen[1:])
    for candidate in CANDIDATES:
        found = shutil.which(candidate)
        if found is not None:
            return (str(Path(found).absolute()),)
    return None


def host_compiler() -> Compiler:
    """Return the compiler for this machine; UserError when there is neither a native one nor ziglang."""
    driver = _find_driver()
    if driver is not None:
        version, identity = describe_driver(driver, "--version")
        name = Path(driver[0]).name
        return Compiler(name=name, command=driver, version=version, identity=identity, compile_flags=COMPILE_FLAGS)
    try:
        return zig_compiler(compile_flags=(*COMPILE_FLAGS, NO_TRAPS))
    except UserError as error:
        raise UserError(
            f"no C compiler found: install gcc or clang, set CC to the path of one, or run `pip install ziglang` "
            f"for {sys.executable}"
        ) from error
