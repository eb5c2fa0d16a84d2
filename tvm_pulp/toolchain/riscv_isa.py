"""The RISC-V instruction sets we build for, and the flags every cross compiler gets."""

from dataclasses import dataclass
from typing import get_args

from tvm_pulp.soc.core_kinds import Architecture

# -ffp-contract=off: float results must not depend on whether the core has fused multiply-add.
FREESTANDING_FLAGS = (
    "-O2",
    "-g0",
    "-std=gnu11",
    "-ffreestanding",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-strict-aliasing",
    "-fno-asynchronous-unwind-tables",
    "-ffp-contract=off",
)


@dataclass(frozen=True)
class RiscvIsa:
    """One architecture string and the one ABI that goes with it: objects of two ABIs do not link."""

    architecture: str
    abi: str
    extensions: tuple[str, ...]


_ISAS = {
    "rv32imc": RiscvIsa("rv32imc", "ilp32", ("m", "c")),
    # ilp32f, not ilp32: gcc has no 32-bit libraries for F instructions with soft-float calls.
    "rv32imfc": RiscvIsa("rv32imfc", "ilp32f", ("m", "f", "c")),
    "rv32ima": RiscvIsa("rv32ima", "ilp32", ("m", "a")),
}
assert set(_ISAS) == set(get_args(Architecture))


def riscv_isa(architecture: Architecture) -> RiscvIsa:
    """Return the description of an architecture string."""
    return _ISAS[architecture]
