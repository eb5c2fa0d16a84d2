"""The machine as a debugger is told of it: registers, memories and cores, as XML."""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from tvm_pulp.soc.description import Soc

# Numbers of the simulator's interface: iss.h.
_PC, _CSR = 64, 4096

_X = (
    *("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1"),
    *(f"a{number}" for number in range(8)),
    *(f"s{number}" for number in range(2, 12)),
    *(f"t{number}" for number in range(3, 7)),
)
_F = (
    *(f"ft{number}" for number in range(8)),
    *("fs0", "fs1"),
    *(f"fa{number}" for number in range(8)),
    *(f"fs{number}" for number in range(2, 12)),
    *(f"ft{number}" for number in range(8, 12)),
)
_LOOPS = ("lpstart0", "lpend0", "lpcount0", "lpstart1", "lpend1", "lpcount1")
_LOOP_CSRS = (0x7C0, 0x7C1, 0x7C2, 0x7C4, 0x7C5, 0x7C6)
_CSRS = {
    "mstatus": 0x300,
    "mtvec": 0x305,
    "mscratch": 0x340,
    "mepc": 0x341,
    "mcause": 0x342,
    "mhartid": 0xF14,
    "mcycle": 0xB00,
    "minstret": 0xB02,
}


@dataclass(frozen=True)
class Register:
    """A register as the debugger sees it; its place in the list is its number there."""

    name: str
    number: int
    """In the simulator's interface."""
    feature: str
    type: str = "int"


def registers(soc: Soc) -> tuple[Register, ...]:
    """Every register of a core, in the order of the target description."""
    found = [Register(name, number, "org.gnu.gdb.riscv.cpu") for number, name in enumerate(_X)]
    found.append(Register("pc", _PC, "org.gnu.gdb.riscv.cpu", "code_ptr"))
    if soc.cluster.isa.single_float or soc.controller.isa.single_float:
        feature = "org.gnu.gdb.riscv.fpu"
        found += [Register(name, 32 + number, feature, "ieee_single") for number, name in enumerate(_F)]
        found += [Register(name, _CSR + 1 + number, feature) for number, name in enumerate(("fflags", "frm", "fcsr"))]
    if soc.cluster.isa.xpulp:
        pairs = zip(_LOOPS, _LOOP_CSRS, strict=True)
        found += [Register(name, _CSR + number, "org.pulp-platform.xpulp.loops") for name, number in pairs]
    found += [Register(name, _CSR + number, "org.gnu.gdb.riscv.csr") for name, number in _CSRS.items()]
    return tuple(found)


def target_xml(known: Iterable[Register]) -> str:
    """The target description."""
    lines = ['<?xml version="1.0"?>', '<!DOCTYPE target SYSTEM "gdb-target.dtd">', '<target version="1.0">']
    lines.append("<architecture>riscv:rv32</architecture>")
    feature = ""
    for register in known:
        if register.feature != feature:
            lines += ["</feature>"] * bool(feature) + [f'<feature name="{register.feature}">']
            feature = register.feature
        group = ' group="float"' if register.type == "ieee_single" else ""
        lines.append(f'<reg name="{register.name}" bitsize="32" type="{register.type}"{group}/>')
    return "\n".join([*lines, "</feature>", "</target>"])


def memory_map_xml(soc: Soc, register_spaces: Iterable[tuple[int, int]]) -> str:
    """Memories and register spaces, all of them plain memory to the debugger."""
    l1, l2, weight = soc.memory.l1, soc.memory.l2, soc.memory.weight
    ranges = {(l1.base, l1.size), (l2.base, l2.size), *register_spaces}
    if weight.size:
        ranges.add((weight.base, weight.size))
    rows = [f'<memory type="ram" start="0x{base:x}" length="0x{size:x}"/>' for base, size in sorted(ranges)]
    head = '<?xml version="1.0"?><!DOCTYPE memory-map SYSTEM "gdb-memory-map.dtd">'
    return "\n".join([head, "<memory-map>", *rows, "</memory-map>"])


def threads_xml(cores: Iterable[tuple[int, str, str]]) -> str:
    """Cores as threads: number, name, what it does."""
    rows = [f'<thread id="{i:x}" core="{i - 1}" name={quoteattr(name)}>{text}</thread>' for i, name, text in cores]
    return "\n".join(['<?xml version="1.0"?>', "<threads>", *rows, "</threads>"])
