"""One XpulpV2 computing instruction form: where its operands sit in the word and what it does to rd."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from .encode import field, r_type

# rd from (old rd, rs1, rs2, immediates)
Semantics = Callable[[int, int, int, tuple[int, ...]], int]
# whether the specification defines the result for (rs1, rs2, immediates)
Domain = Callable[[int, int, tuple[int, ...]], bool]


class Layout(Enum):
    """Which operands besides rd and rs1 an instruction has, and in which bits its immediates lie."""

    ONE_SOURCE = "rs2 field is zero"
    TWO_SOURCES = "rs2"
    SMALL = "(Is2,) in the rs2 field"
    FIELD = "(Is3, Is2): width-1 in bits 29:25, position in the rs2 field"
    SHIFT = "rs2 and (I,) in bits 29:25"
    SIX = "(imm6,): bits 5:1 in the rs2 field, bit 0 in bit 25"

    @property
    def reads_rs2(self) -> bool:
        return self in (Layout.TWO_SOURCES, Layout.SHIFT)

    @property
    def immediate_ranges(self) -> tuple[int, ...]:
        """Number of values of each immediate."""
        return {Layout.SMALL: (32,), Layout.FIELD: (32, 32), Layout.SHIFT: (32,), Layout.SIX: (64,)}.get(self, ())


def everywhere(a: int, b: int, immediates: tuple[int, ...]) -> bool:
    """The domain of an instruction that is defined for all operands."""
    return True


@dataclass(frozen=True)
class Form:
    """An instruction form; `f7` holds the fixed bits of 31:25 and zeros where immediates go."""

    name: str
    section: str
    layout: Layout
    opcode: int
    f3: int
    f7: int
    semantics: Semantics
    domain: Domain = everywhere

    def encode(self, rd: int, rs1: int, rs2: int, immediates: tuple[int, ...]) -> int:
        """The instruction word; `rs2` is ignored by layouts without a second source register."""
        f7, second = self.f7, rs2
        match self.layout:
            case Layout.ONE_SOURCE:
                second = 0
            case Layout.SMALL:
                (second,) = immediates
            case Layout.FIELD:
                width_less_one, second = immediates
                f7 |= field(width_less_one, 5, 0)
            case Layout.SHIFT:
                f7 |= field(immediates[0], 5, 0)
            case Layout.SIX:
                second = immediates[0] >> 1
                f7 |= immediates[0] & 1
        return r_type(self.opcode, self.f3, f7, rd, rs1, second)

    def text(self, rd: int, rs1: int, rs2: int, immediates: tuple[int, ...]) -> str:
        """Readable instruction for failure messages."""
        operands = [f"x{rd}", f"x{rs1}"] + [f"x{rs2}"] * self.layout.reads_rs2 + [str(value) for value in immediates]
        return f"{self.name} {', '.join(operands)}"
