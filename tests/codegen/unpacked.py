"""An archive on disk, built in ways the host device does not: other compilers, sanitizers, a program of its own."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

import tvm_pulp
from tvm_pulp.sim.host import sources_of
from tvm_pulp.toolchain import Compiler, build_host_program, compile_objects, host_compiler
from tvm_pulp.toolchain.host_cc import COMPILE_FLAGS
from tvm_pulp.toolchain.project.unpack import unpack
from tvm_pulp.toolchain.zig import NO_TRAPS, zig_compiler

STRICT = ("-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Werror")


def save_model(model: object, folder: Path) -> Path:
    """Write an ONNX model and return its path."""
    path = folder / "model.onnx"
    onnx.save(model, str(path))
    return path


def compiler(name: str) -> Compiler:
    """`cc` or `zig`, without flags of our own: -O2 and what the caller adds."""
    found = host_compiler() if name == "cc" else zig_compiler(compile_flags=(*COMPILE_FLAGS, NO_TRAPS))
    return replace(found, compile_flags=("-O2", *([NO_TRAPS] if name == "zig" else [])))


def strict_objects(app: tvm_pulp.App, folder: Path, compiler_name: str) -> list[Path]:
    """Objects of all sources; a warning is an error."""
    unpack(app.files, folder)
    sources, headers = sources_of(folder)
    return compile_objects(sources, headers, STRICT, compiler(compiler_name))


def undefined_symbols(objects: Sequence[Path]) -> set[str]:
    """Symbols that the objects use and none of them defines."""
    used: set[str] = set()
    defined: set[str] = set()
    for path in objects:
        with path.open("rb") as stream:
            for section in ELFFile(stream).iter_sections():
                if isinstance(section, SymbolTableSection):
                    for symbol in section.iter_symbols():
                        (used if symbol["st_shndx"] == "SHN_UNDEF" else defined).add(symbol.name)
    return used - defined - {""}


def program_text(app: tvm_pulp.App) -> str:
    """A main that reads the inputs from stdin, runs twice, compares the two answers and writes one to stdout."""
    name, facts = app.metadata["model_name"], app.metadata["tvm_pulp"]

    def sizes(tensors: list[dict[str, object]]) -> list[int]:
        return [int(np.prod(t["shape"], dtype=np.int64)) * np.dtype(str(t["dtype"])).itemsize for t in tensors]

    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", f'#include "tvmgen_{name}.h"', ""]
    lines += [
        "int main(void) {",
        f"  struct tvmgen_{name}_inputs inputs;",
        f"  struct tvmgen_{name}_outputs first, second;",
    ]
    for tensor, size in zip(facts["inputs"], sizes(facts["inputs"]), strict=True):
        # Exactly as large as the tensor: one byte further is somebody else's.
        lines += [f"  void *{tensor['member']}_data = malloc({size});"]
        lines += [f"  if (fread({tensor['member']}_data, 1, {size}, stdin) != {size}) return 3;"]
        lines += [f"  inputs.{tensor['member']} = {tensor['member']}_data;"]
    for tensor, size in zip(facts["outputs"], sizes(facts["outputs"]), strict=True):
        for call, pattern in (("first", 0x55), ("second", 0xAA)):
            lines += [f"  {call}.{tensor['member']} = memset(malloc({size}), {pattern}, {size});"]
    for call in ("first", "second"):
        lines.append(f"  if (tvmgen_{name}_run(&inputs, &{call}) != 0) return 4;")
    for tensor, size in zip(facts["outputs"], sizes(facts["outputs"]), strict=True):
        member = tensor["member"]
        lines.append(f"  if (memcmp(first.{member}, second.{member}, {size}) != 0) return 5;")
        lines.append(f"  fwrite(first.{member}, 1, {size}, stdout);")
        lines += [f"  free(first.{member});", f"  free(second.{member});"]
    lines += [f"  free({tensor['member']}_data);" for tensor in facts["inputs"]]
    return "\n".join([*lines, "  return 0;", "}", ""])


def run_sanitized(app: tvm_pulp.App, folder: Path, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Outputs of the stand-alone program under the address and undefined-behaviour sanitizers."""
    unpack(app.files, folder)
    main = folder / "main.c"
    main.write_text(program_text(app))
    sources, headers = sources_of(folder)
    program = build_host_program([main, *sources], headers, extra_flags=("-Wall", "-Wextra", "-Werror"), sanitize=True)
    data = b"".join(np.ascontiguousarray(x).tobytes() for x in inputs)
    finished = subprocess.run([str(program)], input=data, capture_output=True, check=False)
    assert (finished.returncode, finished.stderr.decode()) == (0, "")
    results, place = [], 0
    for tensor in app.metadata["tvm_pulp"]["outputs"]:
        count = int(np.prod(tensor["shape"], dtype=np.int64))
        results.append(np.frombuffer(finished.stdout, tensor["dtype"], count, place).reshape(tensor["shape"]))
        place += results[-1].nbytes
    assert place == len(finished.stdout)
    return results
