"""Random items made of compressed instructions; every RV32FC form except c.ebreak is among them."""

import random

from . import rv32_encode as rv
from . import rvc_encode as rvc
from .image import Encoded

WINDOW_WORDS = 128
Item = list[Encoded]


class CompressedGenerator:
    """Register choice and the compressed item kinds."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        # Registers no generated instruction may write; sp is the window pointer.
        self.reserved: set[int] = {2}

    def several(self, most: int) -> Item:
        """Straight-line items to be jumped over; the full generator offers more kinds than this one."""
        return [line for _ in range(self.pick.randint(1, most)) for line in self.compressed()]

    def register(self) -> int:
        """Any integer register as a source."""
        return self.pick.randrange(32)

    def destination(self) -> int:
        """Any integer register that may be written, x0 included."""
        return self.pick.choice([number for number in range(32) if number not in self.reserved])

    def pointer(self) -> int:
        """A register that may be written and keeps its value."""
        return self.pick.choice([number for number in range(1, 32) if number not in self.reserved])

    def short_destination(self) -> int:
        """A register with a three-bit name that may be written."""
        return self.pick.choice([number for number in range(8, 16) if number not in self.reserved])

    def float_register(self) -> int:
        """Any float register."""
        return self.pick.randrange(32)

    def rounding(self) -> int:
        """Any static rounding mode or the dynamic one."""
        return self.pick.choice(list(rv.ROUNDING_MODES.values()))

    def compressed(self) -> Item:
        """One item without a jump."""
        kind = self.pick.choice(
            (self._arithmetic, self._arithmetic, self._short_memory, self._stack_memory, self._stack)
        )
        return kind()

    def _arithmetic(self) -> Item:
        rd, source = self.pointer(), self.pick.randrange(1, 32)
        short, other = self.short_destination(), self.pick.randrange(8, 16)
        small = self.pick.choice((-32, 31, -1, 1, self.pick.randrange(1, 31)))
        amount = self.pick.choice((1, 31, self.pick.randrange(1, 32)))
        wide = self.pick.randrange(1, 256)
        arithmetic = self.pick.choice(list(rvc.SHORT_ARITHMETIC))
        choices = (
            (f"c.addi x{rd}, {small}", rvc.addi(rd, small)),
            (f"c.li x{rd}, {small}", rvc.li(rd, small)),
            (f"c.lui x{rd}, {small}", rvc.lui(rd, small)),
            (f"c.slli x{rd}, {amount}", rvc.slli(rd, amount)),
            (f"c.mv x{rd}, x{source}", rvc.mv(rd, source)),
            (f"c.add x{rd}, x{source}", rvc.add(rd, source)),
            (f"c.srli x{short}, {amount}", rvc.shift_right("c.srli", short, amount)),
            (f"c.srai x{short}, {amount}", rvc.shift_right("c.srai", short, amount)),
            (f"c.andi x{short}, {small}", rvc.andi(short, small)),
            (f"{arithmetic} x{short}, x{other}", rvc.short_arithmetic(arithmetic, short, other)),
            (f"{arithmetic} x{short}, x{other}", rvc.short_arithmetic(arithmetic, short, other)),
            (f"c.addi4spn x{short}, sp, {4 * wide}", rvc.addi4spn(short, 4 * wide)),
            ("c.nop", rvc.nop()),
        )
        text, word = self.pick.choice(choices)
        return [Encoded(text, word, 2)]

    def _short_memory(self) -> Item:
        """A pointer from c.addi4spn, then c.lw, c.flw, c.sw or c.fsw through it."""
        name, pointer = self.pick.choice(list(rvc.SHORT_MEMORY)), self.short_destination()
        start = self.pick.randrange(1, WINDOW_WORDS)
        offset = self.pick.randrange(min(32, WINDOW_WORDS - start))
        data = self.short_destination() if name == "c.lw" else self.pick.randrange(8, 16)
        return [
            Encoded(f"c.addi4spn x{pointer}, sp, {4 * start}", rvc.addi4spn(pointer, 4 * start), 2),
            Encoded(f"{name} {data}, {4 * offset}(x{pointer})", rvc.short_memory(name, data, pointer, 4 * offset), 2),
        ]

    def _stack_memory(self) -> Item:
        name, offset = self.pick.choice(("c.lwsp", "c.flwsp", "c.swsp", "c.fswsp")), 4 * self.pick.randrange(64)
        if name in ("c.lwsp", "c.flwsp"):
            rd = self.pointer() if name == "c.lwsp" else self.float_register()
            return [Encoded(f"{name} {rd}, {offset}(sp)", rvc.load_sp(name, rd, offset), 2)]
        source = self.pick.randrange(32)
        return [Encoded(f"{name} {source}, {offset}(sp)", rvc.store_sp(name, source, offset), 2)]

    def _stack(self) -> Item:
        """Move sp, copy it where the comparison sees it, and move it back."""
        step = 16 * self.pick.choice((-32, 31, self.pick.randrange(-31, 0), self.pick.randrange(1, 31)))
        # The way back from -512 does not fit in one instruction.
        back = [-step] if step > -512 else [256, 256]
        seen = self.pointer()
        return [
            Encoded(f"c.addi16sp {step}", rvc.addi16sp(step), 2),
            Encoded(f"c.mv x{seen}, sp", rvc.mv(seen, 2), 2),
            *(Encoded(f"c.addi16sp {part}", rvc.addi16sp(part), 2) for part in back),
        ]

    def compressed_jump(self) -> Item:
        """c.j, c.jal, c.beqz, c.bnez, c.jr or c.jalr over a few instructions."""
        names = ["c.j", "c.beqz", "c.bnez", "c.jr"]
        if 1 not in self.reserved:
            names += ["c.jal", "c.jalr"]
        name, skipped = self.pick.choice(names), self.several(2)
        size = sum(line.size for line in skipped)
        if name in ("c.j", "c.jal"):
            return [Encoded(f"{name} {size + 2:+d}", rvc.jump(name, size + 2), 2), *skipped]
        if name in ("c.beqz", "c.bnez"):
            tested = self.pick.randrange(8, 16)
            return [Encoded(f"{name} x{tested}, {size + 2:+d}", rvc.branch(name, tested, size + 2), 2), *skipped]
        pointer = self.pointer()
        word = rvc.jr(pointer) if name == "c.jr" else rvc.jalr(pointer)
        return [
            Encoded(f"auipc x{pointer}, 0", rv.auipc(pointer, 0)),
            Encoded(f"addi x{pointer}, x{pointer}, {size + 10}", rv.immediate_op("addi", pointer, pointer, size + 10)),
            Encoded(f"{name} x{pointer}", word, 2),
            *skipped,
        ]
