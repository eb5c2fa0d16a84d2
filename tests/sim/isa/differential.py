"""Build batches of random programs, run them on two executors and name the first difference.

Every program owns a data block: the window it may access, the initial registers, and the final registers, which its
last instructions write there. Programs of a batch follow each other in memory, so one run executes all of them.
"""

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from . import rv32_encode as rv
from .execute import Executor
from .float_values import random_pattern
from .image import L2_CODE, Encoded, Image, Region, join_code, make_image
from .rv32_generator import WINDOW_BYTES, Generator, Item, random_integer

REGISTER_BYTES = 260  # x0..x31, f0..f31, fcsr
INITIAL = WINDOW_BYTES
FINAL = INITIAL + REGISTER_BYTES
BLOCK_BYTES = 1536
UNWRITTEN = 0xDEADBEEF
REGISTER_NAMES = [f"x{n}" for n in range(32)] + [f"f{n}" for n in range(32)] + ["fcsr"]


@dataclass(frozen=True)
class Program:
    """A random body with the block contents it starts from."""

    seed: int
    body: tuple[Item, ...]
    window: bytes
    registers: tuple[int, ...]

    def cut(self, items: int) -> "Program":
        """The same program with only its first items."""
        return Program(self.seed, self.body[:items], self.window, self.registers)


def random_program(seed: int, instructions: int = 150) -> Program:
    """The program of a seed; the seed alone decides everything."""
    generator = Generator(seed)
    body = tuple(generator.body(instructions))
    pick = random.Random(seed ^ 0x5EED)
    window = struct.pack("<128I", *(pick.choice((random_integer, random_pattern))(pick) for _ in range(128)))
    integers = [random_integer(pick) for _ in range(32)]
    floats = [random_pattern(pick) for _ in range(32)]
    return Program(seed, body, window, (*integers, *floats, pick.randrange(5) << 5 | pick.getrandbits(5)))


def _prologue(block: int) -> list[Encoded]:
    words = rv.load_constant(2, block)
    words += [rv.load("lw", 5, 2, INITIAL + 256), rv.csr_op("csrrw", 0, rv.CSRS["fcsr"], 5)]
    words += [rv.float_load(n, 2, INITIAL + 128 + 4 * n) for n in range(32)]
    words += [rv.load("lw", n, 2, INITIAL + 4 * n) for n in range(32) if n != 2]
    return [Encoded("set-up", word) for word in words]


def _epilogue() -> list[Encoded]:
    words = [rv.store("sw", n, 2, FINAL + 4 * n) for n in range(32)]
    words += [rv.float_store(n, 2, FINAL + 128 + 4 * n) for n in range(32)]
    words += [rv.csr_op("csrrs", 5, rv.CSRS["fcsr"], 0), rv.store("sw", 5, 2, FINAL + 256)]
    return [Encoded("write-back", word) for word in words]


def build_batch(programs: Sequence[Program], data: int) -> Image:
    """One image that runs the programs one after the other, with their blocks from address `data` on."""
    code: list[Encoded] = []
    regions: list[Region] = []
    for index, program in enumerate(programs):
        block = data + BLOCK_BYTES * index
        final = [UNWRITTEN] * (REGISTER_BYTES // 4)
        words = struct.pack("<130I", *program.registers, *final)
        regions.append(Region(block, program.window + words))
        code += _prologue(block)
        code += [line for item in program.body for line in item]
        code += _epilogue()
    return make_image(join_code(code), regions, L2_CODE)


def observe(execute: Executor, programs: Sequence[Program], data: int) -> list[bytes]:
    """Window and final registers of every program."""
    ranges = [
        (data + BLOCK_BYTES * index + start, size)
        for index in range(len(programs))
        for start, size in ((0, WINDOW_BYTES), (FINAL, REGISTER_BYTES))
    ]
    pieces = execute(build_batch(programs, data), ranges)
    return [pieces[2 * index] + pieces[2 * index + 1] for index in range(len(programs))]


def describe_difference(expected: bytes, got: bytes) -> str:
    """Name every differing register and window word."""
    lines = []
    for offset in range(0, len(expected), 4):
        (want,), (have,) = struct.unpack_from("<I", expected, offset), struct.unpack_from("<I", got, offset)
        if want != have:
            inside = offset < WINDOW_BYTES
            place = f"window+{offset:#x}" if inside else REGISTER_NAMES[(offset - WINDOW_BYTES) // 4]
            lines.append(f"  {place}: expected {want:#010x}, got {have:#010x}")
    return "\n".join(lines)


def first_bad_item(oracle: Executor, subject: Executor, program: Program, data: int) -> str:
    """Shrink by cutting: the shortest prefix of items whose outcome differs ends in the culprit."""
    prefixes = [program.cut(items) for items in range(len(program.body) + 1)]
    for prefix in prefixes:
        expected, got = (observe(execute, [prefix], data)[0] for execute in (oracle, subject))
        if expected != got:
            text = "; ".join(line.text for line in prefix.body[-1]) if prefix.body else "set-up"
            return f"item {len(prefix.body) - 1}: {text}\n{describe_difference(expected, got)}"
    return "the program alone agrees; it differs only inside its batch"


def compare_batch(oracle: Executor, subject: Executor, seeds: Sequence[int], data: int) -> list[str]:
    """Run the programs of the seeds on both executors and report each one that differs."""
    programs = [random_program(seed) for seed in seeds]
    outcomes = zip(programs, observe(oracle, programs, data), observe(subject, programs, data), strict=True)
    return [
        f"seed {program.seed}\n{describe_difference(expected, got)}\n"
        f"first seen at {first_bad_item(oracle, subject, program, data)}"
        for program, expected, got in outcomes
        if expected != got
    ]
