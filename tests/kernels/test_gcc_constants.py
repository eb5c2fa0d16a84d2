"""Float constants of functions: GNU's compiler makes them of integers too, as clang does."""

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.kernels.call import RUNTIME
from tests.kernels.check import TOOLCHAINS
from tvm_pulp.toolchain import RiscvToolchain
from tvm_pulp.toolchain.build import RISCV_COMPILERS
from tvm_pulp.toolchain.riscv_compilers import RISCV_ISAS

# As many as a loop keeps in registers; the functions have five times as many.
MOST_BYTES = 32
TEXT = """
#include "tvm_pulp/float_functions.h"
void all(const float *x, float *y, int32_t n) {
  for (int32_t i = 0; i < n; ++i) y[i] = tvm_pulp_inline_erf(x[i]);
}
"""


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_constants_are_not_loaded(toolchain: RiscvToolchain, tmp_path: Path) -> None:
    source, made = tmp_path / "erf.c", tmp_path / "erf.o"
    source.write_text(TEXT, encoding="utf-8")
    compiler = RISCV_COMPILERS[toolchain](RISCV_ISAS["rv32imfc"])
    compiler.run([*compiler.compile_flags, "-Wall", "-Wextra", "-Werror", f"-I{RUNTIME / 'include'}",
                  "-c", str(source), "-o", str(made)])  # fmt: skip
    with made.open("rb") as stream:
        sections = [section for section in ELFFile(stream).iter_sections() if "rodata" in section.name]
        assert sum(section["sh_size"] for section in sections if ".rela" not in section.name) <= MOST_BYTES
