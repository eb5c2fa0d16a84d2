"""Operand sets for one XpulpV2 form: corner values, all immediates, register aliasing, and random values."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from .xpulp_form import Form, Layout
from .xpulp_simd import join

SCALAR_CORNERS = (
    *(0, 1, 2, 31, 32, 127, 128, 255, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000),
    *(0xFFFFFFFF, 0xFFFFFF80, 0xFFFF8000, 0x80008000, 0x7FFF7FFF, 0xC0000000),
)
LANE_CORNERS = {8: (-128, -1, 0, 1, 127), 16: (-32768, -128, -1, 0, 1, 127, 32767)}
# Which of rd, rs1, rs2 share a register (equal letters), "0" standing for x0
ALIASES = ("dab", "aab", "bab", "aaa", "daa", "0ab", "d0b", "da0", "d00", "000", "0aa", "00b", "0a0")


@dataclass(frozen=True)
class Case:
    """Registers and the values they hold before the instruction."""

    rd: int
    rs1: int
    rs2: int
    immediates: tuple[int, ...]
    old: int
    a: int
    b: int


def lane_width(form: Form) -> int:
    """Lane size of a SIMD form, 0 for a scalar one."""
    return 0 if form.opcode != 0x57 else 8 if form.name.endswith(".b") else 16


def corner_pairs(form: Form) -> Iterator[tuple[int, int]]:
    """Every pair of corner values; in a SIMD form every pair in every lane."""
    width = lane_width(form)
    if not width:
        yield from itertools.product(SCALAR_CORNERS, repeat=2)
        return
    pairs = list(itertools.product(LANE_CORNERS[width], repeat=2))
    count = 32 // width
    for start in range(len(pairs)):
        # A step that shares no factor with the number of pairs brings each pair into each lane.
        chosen = [pairs[(start + 3 * lane) % len(pairs)] for lane in range(count)]
        yield join([a for a, _ in chosen], width), join([b for _, b in chosen], width)


def random_value(pick: random.Random, form: Form) -> int:
    """A corner, a word with one bit or one gap, or any word."""
    kind = pick.randrange(4)
    if kind == 0 and (width := lane_width(form)):
        return join([pick.choice(LANE_CORNERS[width]) for _ in range(32 // width)], width)
    if kind == 0:
        return pick.choice(SCALAR_CORNERS)
    if kind == 1:
        return (1 << pick.randrange(32)) - pick.randrange(2) ^ pick.choice((0, 0xFFFFFFFF))
    return pick.getrandbits(32)


def field_register(pick: random.Random) -> int:
    """rs2 of a register bit-field form: width and position inside the word, the other bits arbitrary."""
    width_less_one = pick.randrange(32)
    position = pick.randrange(32 - width_less_one)
    return pick.getrandbits(22) << 10 | width_less_one << 5 | position


def immediate_choices(form: Form) -> list[tuple[int, ...]]:
    """All immediates for which the form is defined, whatever its registers hold."""
    choices = itertools.product(*(range(count) for count in form.layout.immediate_ranges))
    return [values for values in choices if form.layout is Layout.TWO_SOURCES or form.domain(0, 0, values)]


def registers(alias: str, pick: random.Random, pointer: int) -> tuple[int, int, int]:
    """Random register numbers with the given sharing pattern."""
    free = [number for number in range(1, 32) if number != pointer]
    names = dict(zip("dab", pick.sample(free, 3), strict=True)) | {"0": 0}
    rd, rs1, rs2 = (names[letter] for letter in alias)
    return rd, rs1, rs2


def cases(form: Form, pick: random.Random, pointer: int) -> Iterator[Case]:
    """Operand sets inside the domain of the form."""
    choices = immediate_choices(form)

    def make(alias: str, immediates: tuple[int, ...], a: int, b: int) -> Iterator[Case]:
        rd, rs1, rs2 = registers(alias, pick, pointer)
        # rs2 is set last, so a shared register holds its value.
        b = 0 if rs2 == 0 else b
        a = 0 if rs1 == 0 else b if rs1 == rs2 and form.layout.reads_rs2 else a
        if form.domain(a, b, immediates):
            yield Case(rd, rs1, rs2, immediates, random_value(pick, form), a, b)

    is_register_field = form.name in ("p.extractr", "p.extractur", "p.insertr", "p.bclrr", "p.bsetr")

    def second() -> int:
        return field_register(pick) if is_register_field else random_value(pick, form)

    pairs = list(corner_pairs(form))
    if not form.layout.reads_rs2:
        pairs = [(a, 0) for a in dict.fromkeys(a for a, _ in pairs)] + [(1 << bit, 0) for bit in range(32)]
    for a, b in pairs:
        yield from make("dab", pick.choice(choices), a, second() if is_register_field else b)
    for immediates in choices if len(choices) > 1 else []:
        # Values one step around the power of two that the immediate may name
        power = 1 << immediates[0] >> 1
        for a in (power - 1, power, -power, -power - 1, pick.getrandbits(32))[:: 1 if len(choices) <= 64 else 5]:
            yield from make("dab", immediates, a & 0xFFFFFFFF, second())
        yield from make("dab", immediates, random_value(pick, form), second())
    for alias in ALIASES * 4:
        yield from make(alias, pick.choice(choices), random_value(pick, form), second())
    for _ in range(60):
        yield from make("dab", pick.choice(choices), random_value(pick, form), second())
