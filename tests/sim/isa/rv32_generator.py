"""Seeded random RV32IMFC instruction sequences that always terminate and stay inside their data window.

x2 (sp) holds the address of the window throughout. All jumps go forward, except the closing branch of counted loops.
A body is a list of items; an item is a few instructions that only make sense together, so a body may be cut after
any item.
"""

import random

from . import rv32_encode as rv
from .float_values import random_number
from .image import Encoded
from .rv32c_generator import CompressedGenerator

WINDOW_BYTES = 512
INTEGER_CORNERS = (0, 1, 2, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
Item = list[Encoded]


def random_integer(pick: random.Random) -> int:
    """A corner value, its negative, or any 32-bit word."""
    if pick.randrange(2):
        return pick.choice((1, -1)) * pick.choice(INTEGER_CORNERS) & 0xFFFFFFFF
    return pick.getrandbits(32)


class Generator(CompressedGenerator):
    """All item kinds; `body` mixes them."""

    def body(self, instructions: int) -> list[Item]:
        """Items with at least the given number of instructions together."""
        items: list[Item] = []
        while sum(map(len, items)) < instructions:
            items.append(self.item())
        return items

    def item(self) -> Item:
        """One item of any kind."""
        kinds = (
            (14, self.straight_line),
            (3, self.forward_branch),
            (1, self.jump),
            (1, self.jump_register),
            (1, self.counted_loop),
            (1, self.compressed_jump),
        )
        return self.pick.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]()

    def straight_line(self) -> Item:
        """One item without a jump."""
        kinds = (
            (8, self.register_op),
            (5, self.immediate_op),
            (2, self.upper_immediate),
            (5, self.memory),
            (9, self.float_operation),
            (2, self.minimum_maximum),
            (2, self.csr),
            (1, self.fence),
            (10, self.compressed),
        )
        return self.pick.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]()

    def several(self, most: int) -> Item:
        """One to `most` straight-line items in a row."""
        return [line for _ in range(self.pick.randint(1, most)) for line in self.straight_line()]

    # Integer

    def register_op(self) -> Item:
        name = self.pick.choice(list(rv.REGISTER_OPS))
        rd, a, b = self.destination(), self.register(), self.register()
        return [Encoded(f"{name} x{rd}, x{a}, x{b}", rv.register_op(name, rd, a, b))]

    def immediate_op(self) -> Item:
        rd, a = self.destination(), self.register()
        if self.pick.randrange(3) == 0:
            name, amount = self.pick.choice(list(rv.SHIFT_OPS)), self.pick.choice((0, 31, self.pick.randrange(32)))
            return [Encoded(f"{name} x{rd}, x{a}, {amount}", rv.shift_op(name, rd, a, amount))]
        name = self.pick.choice(list(rv.IMMEDIATE_OPS))
        value = self.pick.choice((-2048, 2047, -1, 0, self.pick.randrange(-2048, 2048)))
        return [Encoded(f"{name} x{rd}, x{a}, {value}", rv.immediate_op(name, rd, a, value))]

    def upper_immediate(self) -> Item:
        rd, upper = self.destination(), self.pick.getrandbits(20)
        name, encode = self.pick.choice((("lui", rv.lui), ("auipc", rv.auipc)))
        return [Encoded(f"{name} x{rd}, {upper:#x}", encode(rd, upper))]

    def memory(self) -> Item:
        """Form a pointer into the window, then access it at any alignment."""
        name = self.pick.choice([*rv.LOADS, *rv.STORES, "flw", "fsw"])
        size = {**rv.LOADS, **rv.STORES}.get(name, (2, 4))[1]
        pointer = self.pointer()
        target = self.pick.randrange(WINDOW_BYTES - size + 1)
        if self.pick.randrange(2):
            target -= target % size
        # Every bit of the offset is used: the pointer lies outside the window when the offset is large.
        offset = self.pick.randrange(target - 2047, 2048)
        start = target - offset
        setup = Encoded(f"addi x{pointer}, sp, {start}", rv.immediate_op("addi", pointer, 2, start))
        if name == "flw":
            data = self.float_register()
            return [setup, Encoded(f"flw f{data}, {offset}(x{pointer})", rv.float_load(data, pointer, offset))]
        if name == "fsw":
            data = self.float_register()
            return [setup, Encoded(f"fsw f{data}, {offset}(x{pointer})", rv.float_store(data, pointer, offset))]
        if name in rv.LOADS:
            data = self.destination()
            return [setup, Encoded(f"{name} x{data}, {offset}(x{pointer})", rv.load(name, data, pointer, offset))]
        data = self.register()
        return [setup, Encoded(f"{name} x{data}, {offset}(x{pointer})", rv.store(name, data, pointer, offset))]

    def csr(self) -> Item:
        """Any access to a floating-point CSR, its value read back, and a legal rounding mode afterwards."""
        name, csr = self.pick.choice(list(rv.CSR_OPS)), self.pick.choice(list(rv.CSRS))
        rd, source, seen = self.destination(), self.pick.randrange(32), self.destination()
        mode = self.pick.randrange(5)
        return [
            Encoded(f"{name} x{rd}, {csr}, {source}", rv.csr_op(name, rd, rv.CSRS[csr], source)),
            Encoded(f"csrrs x{seen}, fcsr, x0", rv.csr_op("csrrs", seen, rv.CSRS["fcsr"], 0)),
            Encoded(f"csrrwi x0, frm, {mode}", rv.csr_op("csrrwi", 0, rv.CSRS["frm"], mode)),
        ]

    def fence(self) -> Item:
        return [self.pick.choice((Encoded("fence", rv.FENCE), Encoded("fence.i", rv.FENCE_I)))]

    # Floating point

    def float_operation(self) -> Item:
        """Any operation on unrestricted values; half of the time its own exception flags are made visible."""
        kinds = (self.float_arithmetic, self.fused, self.float_fixed, self.float_unary)
        operation = self.pick.choices(kinds, (4, 3, 3, 4))[0]()
        if self.pick.randrange(2):
            return operation
        seen = self.destination()
        return [
            Encoded("csrrwi x0, fflags, 0", rv.csr_op("csrrwi", 0, rv.CSRS["fflags"], 0)),
            *operation,
            Encoded(f"csrrs x{seen}, fflags, x0", rv.csr_op("csrrs", seen, rv.CSRS["fflags"], 0)),
        ]

    def float_arithmetic(self) -> Item:
        name, mode = self.pick.choice(list(rv.FLOAT_ARITHMETIC)), self.rounding()
        rd, a, b = (self.float_register() for _ in range(3))
        return [Encoded(f"{name} f{rd}, f{a}, f{b}, rm={mode}", rv.float_arithmetic(name, rd, a, b, mode))]

    def fused(self) -> Item:
        """A fused operation, then a forced invalid flag: Unicorn forgets it for infinity times zero plus a NaN."""
        name, mode = self.pick.choice(list(rv.FUSED)), self.rounding()
        rd, a, b, c = (self.float_register() for _ in range(4))
        return [
            Encoded(f"{name} f{rd}, f{a}, f{b}, f{c}, rm={mode}", rv.fused(name, rd, a, b, c, mode)),
            Encoded("csrrsi x0, fflags, 16", rv.csr_op("csrrsi", 0, rv.CSRS["fflags"], 16)),
        ]

    def float_fixed(self) -> Item:
        name = self.pick.choice(["fsgnj.s", "fsgnjn.s", "fsgnjx.s", *rv.FLOAT_COMPARES])
        to_integer = name in rv.FLOAT_COMPARES
        rd = self.destination() if to_integer else self.float_register()
        a = self.float_register()
        # Equal operands separate < from <=, and random ones are never equal.
        b = a if self.pick.randrange(5) == 0 else self.float_register()
        return [Encoded(f"{name} {'x' if to_integer else 'f'}{rd}, f{a}, f{b}", rv.float_fixed(name, rd, a, b))]

    def float_unary(self) -> Item:
        name, mode = self.pick.choice(list(rv.FLOAT_UNARY)), self.rounding()
        to_integer = name in ("fcvt.w.s", "fcvt.wu.s", "fmv.x.w", "fclass.s")
        from_integer = name in ("fcvt.s.w", "fcvt.s.wu", "fmv.w.x")
        rd = self.destination() if to_integer else self.float_register()
        a = self.register() if from_integer else self.float_register()
        text = f"{name} {'x' if to_integer else 'f'}{rd}, {'x' if from_integer else 'f'}{a}, rm={mode}"
        return [Encoded(text, rv.float_unary(name, rd, a, mode))]

    def minimum_maximum(self) -> Item:
        """fmin or fmax on numbers: Unicorn follows an older rule for signalling NaNs."""
        a, b, rd = (self.float_register() for _ in range(3))
        name, scratch = self.pick.choice(("fmin.s", "fmax.s")), self.pointer()
        lines: Item = []
        for target in (a, b):
            value = random_number(self.pick)
            lui, addi = rv.load_constant(scratch, value)
            lines.append(Encoded(f"lui x{scratch}, %hi({value:#x})", lui))
            lines.append(Encoded(f"addi x{scratch}, x{scratch}, %lo({value:#x})", addi))
            lines.append(Encoded(f"fmv.w.x f{target}, x{scratch}", rv.float_unary("fmv.w.x", target, scratch, 0)))
        return [*lines, Encoded(f"{name} f{rd}, f{a}, f{b}", rv.float_fixed(name, rd, a, b))]

    # Control flow

    def forward_branch(self) -> Item:
        name, a, b = self.pick.choice(list(rv.BRANCHES)), self.register(), self.register()
        skipped = self.several(4)
        offset = 4 + sum(line.size for line in skipped)
        return [Encoded(f"{name} x{a}, x{b}, {offset:+d}", rv.branch(name, a, b, offset)), *skipped]

    def jump(self) -> Item:
        rd, skipped = self.destination(), self.several(3)
        offset = 4 + sum(line.size for line in skipped)
        return [Encoded(f"jal x{rd}, {offset:+d}", rv.jal(rd, offset)), *skipped]

    def jump_register(self) -> Item:
        """jalr to an odd or even address: bit 0 must be ignored."""
        rd, pointer, skipped = self.destination(), self.pointer(), self.several(3)
        offset = 8 + sum(line.size for line in skipped) + self.pick.randrange(2)
        return [
            Encoded(f"auipc x{pointer}, 0", rv.auipc(pointer, 0)),
            Encoded(f"jalr x{rd}, {offset}(x{pointer})", rv.jalr(rd, pointer, offset)),
            *skipped,
        ]

    def counted_loop(self) -> Item:
        """A backward branch closing a body that may not write the counter."""
        counter, count = self.pointer(), self.pick.randint(1, 4)
        self.reserved.add(counter)
        body = self.several(3)
        self.reserved.remove(counter)
        body.append(Encoded(f"addi x{counter}, x{counter}, -1", rv.immediate_op("addi", counter, counter, -1)))
        offset = -sum(line.size for line in body)
        return [
            Encoded(f"addi x{counter}, x0, {count}", rv.immediate_op("addi", counter, 0, count)),
            *body,
            Encoded(f"bne x{counter}, x0, {offset:+d}", rv.branch("bne", counter, 0, offset)),
        ]
