"""The XpulpV2 loads and stores of section 5.1: post-increment and register-offset addressing."""

from dataclasses import dataclass
from enum import Enum

from .encode import i_type, r_type, s_type
from .model_state import Effect, State


class Addressing(Enum):
    """How the address and the new base are formed."""

    POST_IMMEDIATE = "imm(rs1!)"
    REGISTER_OFFSET = "reg(rs1)"
    POST_REGISTER = "reg(rs1!)"


@dataclass(frozen=True)
class MemoryForm:
    """One load or store form; stores have no f7 and take their offset register from the rd field."""

    mnemonic: str
    addressing: Addressing
    opcode: int
    f3: int
    f7: int
    size: int
    is_load: bool
    is_signed: bool

    @property
    def name(self) -> str:
        return f"{self.mnemonic} {self.addressing.value}"

    def encode(self, data: int, base: int, offset: int) -> int:
        """The word; `offset` is an immediate or a register number."""
        if self.addressing is Addressing.POST_IMMEDIATE:
            if self.is_load:
                return i_type(self.opcode, self.f3, data, base, offset)
            return s_type(self.opcode, self.f3, base, data, offset)
        if self.is_load:
            return r_type(self.opcode, self.f3, self.f7, data, base, offset)
        return r_type(self.opcode, self.f3, self.f7, offset, base, data)

    def text(self, data: int, base: int, offset: int) -> str:
        """Readable instruction."""
        spelled = str(offset) if self.addressing is Addressing.POST_IMMEDIATE else f"x{offset}"
        bang = "" if self.addressing is Addressing.REGISTER_OFFSET else "!"
        return f"{self.mnemonic} x{data}, {spelled}(x{base}{bang})"

    def effect(self, data: int, base: int, offset: int) -> Effect:
        """All sources are read before anything is written; a loaded value wins over the new base."""

        def apply(state: State) -> None:
            old = state.x[base]
            step = offset if self.addressing is Addressing.POST_IMMEDIATE else state.x[offset]
            address = old + step if self.addressing is Addressing.REGISTER_OFFSET else old
            if not self.is_load:
                state.store(address, self.size, state.x[data])
            value = state.load(address, self.size, self.is_signed) if self.is_load else 0
            if self.addressing is not Addressing.REGISTER_OFFSET:
                state.set(base, old + step)
            if self.is_load:
                state.set(data, value)

        return apply


# mnemonic -> (size, signed, f3 of the immediate form, f7 of the register forms)
_LOADS = {
    "p.lb": (1, True, 0, 0x00),
    "p.lh": (2, True, 1, 0x08),
    "p.lw": (4, True, 2, 0x10),
    "p.lbu": (1, False, 4, 0x20),
    "p.lhu": (2, False, 5, 0x28),
}
# mnemonic -> (size, f3 of the immediate form, f3 of the register forms)
_STORES = {"p.sb": (1, 0, 4), "p.sh": (2, 1, 5), "p.sw": (4, 2, 6)}

MEMORY_FORMS: tuple[MemoryForm, ...] = (
    *(
        MemoryForm(name, Addressing.POST_IMMEDIATE, 0x0B, f3, 0, size, True, is_signed)
        for name, (size, is_signed, f3, _) in _LOADS.items()
    ),
    *(
        MemoryForm(name, Addressing.POST_IMMEDIATE, 0x2B, f3, 0, size, False, False)
        for name, (size, f3, _) in _STORES.items()
    ),
    *(
        MemoryForm(name, addressing, opcode, 7, f7, size, True, is_signed)
        for addressing, opcode in ((Addressing.REGISTER_OFFSET, 0x03), (Addressing.POST_REGISTER, 0x0B))
        for name, (size, is_signed, _, f7) in _LOADS.items()
    ),
    *(
        MemoryForm(name, addressing, opcode, f3, 0, size, False, False)
        for addressing, opcode in ((Addressing.REGISTER_OFFSET, 0x23), (Addressing.POST_REGISTER, 0x2B))
        for name, (size, _, f3) in _STORES.items()
    ),
)
