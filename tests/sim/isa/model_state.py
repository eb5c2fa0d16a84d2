"""Architectural state of one core in the Python model, with the hardware-loop rule."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .image import L1_BASE, L2_CODE

L1_BYTES = 256 * 1024
L2_BYTES = 1984 * 1024
MASK = 0xFFFFFFFF


@dataclass
class Loop:
    """One hardware loop; `end` is the address of the last instruction of the body."""

    start: int = 0
    end: int = 0
    count: int = 0


@dataclass
class State:
    """Registers, memories and loops; effects change them and `next_pc`."""

    x: list[int] = field(default_factory=lambda: [0] * 32)
    pc: int = 0
    next_pc: int = 0
    loops: tuple[Loop, Loop] = field(default_factory=lambda: (Loop(), Loop()))
    l1: bytearray = field(default_factory=lambda: bytearray(L1_BYTES))
    l2: bytearray = field(default_factory=lambda: bytearray(L2_BYTES))

    def set(self, register: int, value: int) -> None:
        """Write a register; x0 stays zero."""
        if register:
            self.x[register] = value & MASK

    def place(self, address: int, size: int) -> tuple[bytearray, int]:
        """Memory and offset of an access; cluster cores also see the L1 at address 0."""
        for memory, base in ((self.l1, L1_BASE), (self.l1, 0), (self.l2, L2_CODE)):
            if base <= address and address + size <= base + len(memory):
                return memory, address - base
        raise AssertionError(f"the test program accesses {address:#x}, which no memory holds")

    def load(self, address: int, size: int, is_signed: bool = False) -> int:
        """Little-endian load at any alignment."""
        memory, offset = self.place(address & MASK, size)
        return int.from_bytes(memory[offset : offset + size], "little", signed=is_signed) & MASK

    def store(self, address: int, size: int, value: int) -> None:
        """Little-endian store at any alignment."""
        memory, offset = self.place(address & MASK, size)
        memory[offset : offset + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def read(self, address: int, size: int) -> bytes:
        """Bytes for the comparison."""
        memory, offset = self.place(address, size)
        return bytes(memory[offset : offset + size])

    def write(self, address: int, content: bytes) -> None:
        """Initial bytes."""
        memory, offset = self.place(address, len(content))
        memory[offset : offset + len(content)] = content


Effect = Callable[[State], None]


@dataclass(frozen=True)
class Instruction:
    """An instruction with its meaning."""

    text: str
    word: int
    size: int
    effect: Effect


def run_model(state: State, code: Mapping[int, Instruction], entry: int, stop: int, limit: int = 1_000_000) -> None:
    """Execute from `entry` until `stop` is reached.

    When the instruction at a loop's end retires, loop 0 is looked at before loop 1, and the first one with a count
    above one takes the back edge.
    """
    state.pc = entry
    for _ in range(limit):
        if state.pc == stop:
            return
        instruction = code[state.pc]
        state.next_pc = state.pc + instruction.size
        ends = [loop for loop in state.loops if loop.end == state.pc]
        instruction.effect(state)
        for loop in ends:
            if loop.count > 1:
                loop.count -= 1
                state.next_pc = loop.start
                break
        state.pc = state.next_pc
    raise AssertionError(f"the model is still running after {limit} instructions")
