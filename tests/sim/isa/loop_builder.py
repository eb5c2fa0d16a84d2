"""Builder methods for the hardware loops of section 5.2 and their CSRs."""

from . import rv32_encode as rv
from .builder import Builder
from .encode import u12_type
from .model_state import Effect, State

OPCODE = 0x7B
# f3 of each instruction
LOOP_FORMS = {"lp.starti": 0, "lp.endi": 1, "lp.count": 2, "lp.counti": 3, "lp.setup": 4, "lp.setupi": 5}
# CSR number of each field, per loop
LOOP_CSRS = {(0, "start"): 0x7C0, (0, "end"): 0x7C1, (0, "count"): 0x7C2}
LOOP_CSRS |= {(1, "start"): 0x7C4, (1, "end"): 0x7C5, (1, "count"): 0x7C6}


def distance(label: int, pc: int) -> int:
    """Half-word distance from an instruction forward to a label."""
    return (label - pc) // 2


class LoopBuilder(Builder):
    """Programs with hardware loops; labels of loop ends stand on the last instruction of the body."""

    def starti(self, loop: int, label: str) -> None:
        def make(pc: int, labels: dict[str, int]) -> tuple[int, Effect]:
            def effect(state: State) -> None:
                state.loops[loop].start = labels[label]

            return u12_type(OPCODE, LOOP_FORMS["lp.starti"], loop, 0, distance(labels[label], pc)), effect

        self.emit(f"lp.starti {loop}, {label}", make)

    def endi(self, loop: int, label: str) -> None:
        def make(pc: int, labels: dict[str, int]) -> tuple[int, Effect]:
            def effect(state: State) -> None:
                state.loops[loop].end = labels[label]

            return u12_type(OPCODE, LOOP_FORMS["lp.endi"], loop, 0, distance(labels[label], pc)), effect

        self.emit(f"lp.endi {loop}, {label}", make)

    def count(self, loop: int, rs1: int) -> None:
        def effect(state: State) -> None:
            state.loops[loop].count = state.x[rs1]

        self.fixed(f"lp.count {loop}, x{rs1}", u12_type(OPCODE, LOOP_FORMS["lp.count"], loop, rs1, 0), effect)

    def counti(self, loop: int, value: int) -> None:
        def effect(state: State) -> None:
            state.loops[loop].count = value

        self.fixed(f"lp.counti {loop}, {value}", u12_type(OPCODE, LOOP_FORMS["lp.counti"], loop, 0, value), effect)

    def setup(self, loop: int, rs1: int, label: str) -> None:
        def make(pc: int, labels: dict[str, int]) -> tuple[int, Effect]:
            def effect(state: State) -> None:
                target = state.loops[loop]
                target.start, target.end, target.count = pc + 4, labels[label], state.x[rs1]

            return u12_type(OPCODE, LOOP_FORMS["lp.setup"], loop, rs1, distance(labels[label], pc)), effect

        self.emit(f"lp.setup {loop}, x{rs1}, {label}", make)

    def setupi(self, loop: int, count: int, label: str) -> None:
        def make(pc: int, labels: dict[str, int]) -> tuple[int, Effect]:
            def effect(state: State) -> None:
                target = state.loops[loop]
                target.start, target.end, target.count = pc + 4, labels[label], count

            return u12_type(OPCODE, LOOP_FORMS["lp.setupi"], loop, distance(labels[label], pc), count), effect

        self.emit(f"lp.setupi {loop}, {count}, {label}", make)

    def read_loop_csr(self, rd: int, loop: int, name: str) -> None:
        """csrrs rd, lpstart/lpend/lpcount, x0."""

        def effect(state: State) -> None:
            state.set(rd, getattr(state.loops[loop], name))

        word = rv.csr_op("csrrs", rd, LOOP_CSRS[loop, name], 0)
        self.fixed(f"csrrs x{rd}, lp{name}{loop}, x0", word, effect)


def check(builder: LoopBuilder, *registers: int) -> None:
    """Record registers at the end of the program and require the model's values."""
    for register in registers:
        builder.record(register, f"x{register}")
    differences = list(builder.differences())
    assert not differences, "\n".join(differences)


def counting_body(builder: LoopBuilder, register: int, instructions: int, end: str) -> None:
    """Add different powers of two, so that every instruction of the body is counted separately."""
    for index in range(instructions):
        if index == instructions - 1:
            builder.label(end)
        builder.addi(register, register, 1 << index)
