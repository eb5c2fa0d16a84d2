"""Assemble a program together with its meaning, run both, and compare what they leave in memory.

Jumps and loops name labels; a recorded register is stored to the next slot of a result area, so every comparison
knows which instruction it belongs to.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import rv32_encode as rv
from .encode import b_type
from .execute import CoreExecutor, run_on_simulator
from .image import L2_CODE, L2_DATA, Encoded, Image, Region, join_code, make_image
from .model_state import Effect, Instruction, State, run_model
from .xpulp_form import Form
from .xpulp_memory import MemoryForm

# A word and an effect may depend on the instruction's own address and on labels.
Make = Callable[[int, dict[str, int]], tuple[int, Effect]]

# f3 of the branches that compare with a constant
BRANCH_FORMS = {"p.beqimm": 2, "p.bneimm": 3}


@dataclass(frozen=True)
class Pending:
    """An instruction whose labels are not resolved yet."""

    text: str
    size: int
    make: Make


def goto(target: int) -> Effect:
    """Continue at an address."""

    def apply(state: State) -> None:
        state.next_pc = target

    return apply


class Builder:
    """A growing program; `pointer` is the register that holds the result area's address."""

    def __init__(self, pointer: int = 31, results: int = L2_DATA) -> None:
        self.pending: list[Pending] = []
        self.labels: dict[str, int] = {}
        self.size = 0
        self.pointer = pointer
        self.results = results
        self.slots: list[str] = []
        self.regions: list[Region] = []
        self._pointer_base = -1

    # Plumbing

    def emit(self, text: str, make: Make, size: int = 4) -> None:
        """Append an instruction that needs its address or labels."""
        self.pending.append(Pending(text, size, make))
        self.size += size

    def fixed(self, text: str, word: int, effect: Effect, size: int = 4) -> None:
        """Append an instruction that is the same everywhere."""
        self.emit(text, lambda pc, labels: (word, effect), size)

    def label(self, name: str) -> None:
        """Name the address of the next instruction."""
        self.labels[name] = L2_CODE + self.size

    def data(self, address: int, content: bytes) -> None:
        """Initial memory contents."""
        self.regions.append(Region(address, content))

    # Base instructions

    def constant(self, rd: int, value: int) -> None:
        """Two instructions that set any value."""
        upper, lower = rv.load_constant(rd, value)
        self.fixed(f"lui x{rd}", upper, lambda state: None)
        self.fixed(f"li x{rd}, {value & 0xFFFFFFFF:#x}", lower, lambda state: state.set(rd, value))

    def addi(self, rd: int, rs1: int, value: int) -> None:
        word = rv.immediate_op("addi", rd, rs1, value)
        self.fixed(f"addi x{rd}, x{rs1}, {value}", word, lambda state: state.set(rd, state.x[rs1] + value))

    def add(self, rd: int, rs1: int, rs2: int) -> None:
        word = rv.register_op("add", rd, rs1, rs2)
        self.fixed(f"add x{rd}, x{rs1}, x{rs2}", word, lambda state: state.set(rd, state.x[rs1] + state.x[rs2]))

    def store_word(self, rs2: int, rs1: int, offset: int) -> None:
        word = rv.store("sw", rs2, rs1, offset)
        effect: Effect = lambda state: state.store(state.x[rs1] + offset, 4, state.x[rs2])  # noqa: E731
        self.fixed(f"sw x{rs2}, {offset}(x{rs1})", word, effect)

    def branch(self, name: str, rs1: int, rs2: int, label: str) -> None:
        """beq or bne to a label."""

        def make(pc: int, labels: dict[str, int]) -> tuple[int, Effect]:
            def effect(state: State) -> None:
                if (state.x[rs1] == state.x[rs2]) == (name == "beq"):
                    state.next_pc = labels[label]

            return rv.branch(name, rs1, rs2, labels[label] - pc), effect

        self.emit(f"{name} x{rs1}, x{rs2}, {label}", make)

    def call(self, label: str, link: int = 1) -> None:
        """jal to a label."""

        def make(pc: int, labels: dict[str, int]) -> tuple[int, Effect]:
            def effect(state: State) -> None:
                state.set(link, pc + 4)
                state.next_pc = labels[label]

            return rv.jal(link, labels[label] - pc), effect

        self.emit(f"jal x{link}, {label}", make)

    def ret(self, link: int = 1) -> None:
        """Return through the link register."""
        self.fixed(f"jalr x0, 0(x{link})", rv.jalr(0, link, 0), lambda state: goto(state.x[link])(state))

    # XpulpV2

    def form(self, form: Form, rd: int, rs1: int, rs2: int, immediates: tuple[int, ...]) -> None:
        """A computing form of the table."""

        def effect(state: State) -> None:
            state.set(rd, form.semantics(state.x[rd], state.x[rs1], state.x[rs2], immediates))

        self.fixed(form.text(rd, rs1, rs2, immediates), form.encode(rd, rs1, rs2, immediates), effect)

    def memory(self, form: MemoryForm, data: int, base: int, offset: int) -> None:
        """A load or store form."""
        self.fixed(form.text(data, base, offset), form.encode(data, base, offset), form.effect(data, base, offset))

    def branch_immediate(self, name: str, rs1: int, value: int, label: str) -> None:
        """p.beqimm (f3 2) or p.bneimm (f3 3): compare with a signed five-bit constant."""

        def make(pc: int, labels: dict[str, int]) -> tuple[int, Effect]:
            def effect(state: State) -> None:
                if (state.x[rs1] == value & 0xFFFFFFFF) == (name == "p.beqimm"):
                    state.next_pc = labels[label]

            return b_type(0x63, BRANCH_FORMS[name], rs1, value & 31, labels[label] - pc), effect

        self.emit(f"{name} x{rs1}, {value}, {label}", make)

    # Results

    def record(self, register: int, text: str) -> None:
        """Store a register to the next result slot; `text` names it in a failure."""
        base = len(self.slots) // 500
        if base != self._pointer_base:
            self._pointer_base = base
            self.constant(self.pointer, self.results + 2000 * base)
        self.store_word(register, self.pointer, 4 * (len(self.slots) % 500))
        self.slots.append(text)

    def record_all(self, text: str) -> None:
        """Store the whole register file, so that a write to a wrong register shows."""
        for register in range(32):
            self.record(register, f"x{register} {text}")

    def build(self) -> tuple[Image, dict[int, Instruction]]:
        """Resolve labels."""
        code: dict[int, Instruction] = {}
        pc = L2_CODE
        for pending in self.pending:
            word, effect = pending.make(pc, self.labels)
            code[pc] = Instruction(pending.text, word, pending.size, effect)
            pc += pending.size
        lines = (Encoded(line.text, line.word, line.size) for line in code.values())
        return make_image(join_code(lines), self.regions), code

    def model(self) -> tuple[Image, State]:
        """The image and the model's state at its end."""
        image, code = self.build()
        state = State()
        for region in image.regions:
            state.write(region.address, region.content)
        run_model(state, code, image.entry, image.exit_address)
        return image, state

    def expected(self) -> list[int]:
        """The model's value of every result slot."""
        state = self.model()[1]
        return [state.load(self.results + 4 * index, 4) for index in range(len(self.slots))]

    def differences(
        self, windows: tuple[tuple[int, int], ...] = (), core: int = 0, execute: CoreExecutor = run_on_simulator
    ) -> Iterator[str]:
        """Run model and simulator; describe each result slot and window byte that differs."""
        image, state = self.model()
        ranges = ((self.results, 4 * len(self.slots)), *windows)
        results, *contents = execute(image, ranges, core)
        for index, text in enumerate(self.slots):
            expected = state.load(self.results + 4 * index, 4)
            got = int.from_bytes(results[4 * index : 4 * index + 4], "little")
            if expected != got:
                yield f"{text}: expected {expected:#010x}, got {got:#010x}"
        for (address, size), content in zip(windows, contents, strict=True):
            for offset, (want, have) in enumerate(zip(state.read(address, size), content, strict=True)):
                if want != have:
                    yield f"byte at {address + offset:#x}: expected {want:#04x}, got {have:#04x}"
