"""Random RV32IMA programs leave the same registers and memory on a Snitch core as on Unicorn."""

import random
import struct

import pytest

from tests.sim.isa import rv32_encode as rv
from tests.sim.isa.rv32_generator import random_integer
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine

CODE, DATA, WINDOW = 0x80000000, 0x10000000, 512
ATOMICS = {"amoadd": 0, "amoswap": 1, "amoxor": 4, "amoor": 8, "amoand": 12, "amomin": 16, "amomax": 20}
ATOMICS |= {"amominu": 24, "amomaxu": 28}
SIZES = {"lw": 4, "lh": 2, "lhu": 2, "lb": 1, "lbu": 1, "sw": 4, "sh": 2, "sb": 1}
BASE, SCRATCH = 2, 31  # registers that hold the window's address and that of an atomic's word


def random_body(seed: int, count: int) -> list[int]:
    """Arithmetic, aligned accesses of the window, atomics, and short forward branches."""
    pick = random.Random(seed)

    def register() -> int:
        return pick.choice([r for r in range(31) if r != BASE])

    words: list[int] = []
    while len(words) < count:
        kind = pick.randrange(10)
        if kind < 4:
            words.append(rv.register_op(pick.choice(list(rv.REGISTER_OPS)), register(), register(), register()))
        elif kind < 6:
            words.append(
                rv.immediate_op(
                    pick.choice(list(rv.IMMEDIATE_OPS)), register(), register(), pick.randrange(-2048, 2048)
                )
            )
        elif kind == 6:
            name = pick.choice(list(rv.LOADS))
            words.append(
                rv.load(name, register(), BASE, pick.randrange(WINDOW // 4 - 1) * 4 // SIZES[name] * SIZES[name])
            )
        elif kind == 7:
            name = pick.choice(list(rv.STORES))
            words.append(rv.store(name, register(), BASE, pick.randrange(WINDOW // SIZES[name]) * SIZES[name]))
        elif kind == 8:
            words.append(rv.immediate_op("addi", SCRATCH, BASE, pick.randrange(WINDOW // 4) * 4))
            function = ATOMICS[pick.choice(list(ATOMICS))]
            words.append(function << 27 | register() << 20 | SCRATCH << 15 | 2 << 12 | register() << 7 | 0x2F)
        else:
            words.append(rv.branch(pick.choice(list(rv.BRANCHES)), register(), register(), 8))
            words.append(rv.immediate_op("addi", register(), register(), 1))
    return words


def program_of(seed: int) -> tuple[bytes, bytes]:
    """Code and the initial window; registers are loaded from behind the window and stored behind that."""
    pick = random.Random(seed ^ 0x5EED)
    words = rv.load_constant(BASE, DATA)
    words += [rv.load("lw", n, BASE, WINDOW + 4 * n) for n in range(1, 32) if n != BASE]
    words += random_body(seed, 200)
    words += [rv.store("sw", n, BASE, WINDOW + 128 + 4 * n) for n in range(32)]
    data = struct.pack(f"<{WINDOW // 4 + 32}I", *(random_integer(pick) for _ in range(WINDOW // 4 + 32)))
    return struct.pack(f"<{len(words)}I", *words), data


def on_snitch(code: bytes, data: bytes) -> bytes:
    machine = Machine(soc.load("snitch-ita"))
    machine.write(CODE, code + struct.pack("<I", 0x00000073))  # ecall: no handler, the run ends there
    machine.write(DATA, data)
    machine.start_core(0, CODE)
    with pytest.raises(Exception, match="ecall"):
        machine.run(max_cycles=100_000)
    return machine.read(DATA, WINDOW + 256)


def on_unicorn(code: bytes, data: bytes) -> bytes:
    unicorn = pytest.importorskip("unicorn", reason="the unicorn package (the oracle) is not installed")
    engine = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    engine.mem_map(DATA, 0x20000)
    engine.mem_map(CODE, 0x10000)
    engine.mem_write(CODE, code)
    engine.mem_write(DATA, data)
    engine.emu_start(CODE, CODE + len(code))
    return bytes(engine.mem_read(DATA, WINDOW + 256))


@pytest.mark.sample(2)
@pytest.mark.parametrize("batch", range(4))
def test_random_programs_agree_with_unicorn(batch: int) -> None:
    for seed in range(50 * batch, 50 * batch + 50):
        code, data = program_of(seed)
        assert on_snitch(code, data) == on_unicorn(code, data), f"seed {seed}"
