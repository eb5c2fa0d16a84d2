"""Every computing instruction form of XpulpV2 (legacy RI5CY encodings), sections 5.3 to 5.7 of the platform manual."""

from collections.abc import Iterator

from . import xpulp_scalar as scalar
from . import xpulp_simd as simd
from .xpulp_form import Domain, Form, Layout, Semantics, everywhere

# Scalar register forms: name -> (f7, f3)
_SCALAR_ONE_SOURCE = {
    "p.abs": (0x02, 0),
    "p.ff1": (0x08, 0),
    "p.fl1": (0x08, 1),
    "p.clb": (0x08, 2),
    "p.cnt": (0x08, 3),
    "p.exths": (0x08, 4),
    "p.exthz": (0x08, 5),
    "p.extbs": (0x08, 6),
    "p.extbz": (0x08, 7),
}
_SCALAR_TWO_SOURCES = {
    "p.slet": (0x02, 2),
    "p.sletu": (0x02, 3),
    "p.min": (0x02, 4),
    "p.minu": (0x02, 5),
    "p.max": (0x02, 6),
    "p.maxu": (0x02, 7),
    "p.ror": (0x04, 5),
    "p.clipr": (0x0A, 5),
    "p.clipur": (0x0A, 6),
    "p.mac": (0x21, 0),
    "p.msu": (0x21, 1),
}
_BIT_FIELD_F3 = {"p.extract": 0, "p.extractu": 1, "p.insert": 2, "p.bclr": 3, "p.bset": 4}
_ARITHMETIC_F5 = {
    "pv.add": 0b00000,
    "pv.sub": 0b00001,
    "pv.avg": 0b00010,
    "pv.avgu": 0b00011,
    "pv.min": 0b00100,
    "pv.minu": 0b00101,
    "pv.max": 0b00110,
    "pv.maxu": 0b00111,
    "pv.srl": 0b01000,
    "pv.sra": 0b01001,
    "pv.sll": 0b01010,
    "pv.or": 0b01011,
    "pv.xor": 0b01100,
    "pv.and": 0b01101,
}
_COMPARE_F5 = {
    "pv.cmpeq": 0,
    "pv.cmpne": 1,
    "pv.cmpgt": 2,
    "pv.cmpge": 3,
    "pv.cmplt": 4,
    "pv.cmple": 5,
    "pv.cmpgtu": 6,
    "pv.cmpgeu": 7,
    "pv.cmpltu": 8,
    "pv.cmpleu": 9,
}
_DOT_F5 = {
    "pv.dotup": 0b10000,
    "pv.dotusp": 0b10001,
    "pv.dotsp": 0b10011,
    "pv.sdotup": 0b10100,
    "pv.sdotusp": 0b10101,
    "pv.sdotsp": 0b10111,
}
_LANE_WIDTHS = {"h": 16, "b": 8}


def _scalar_forms() -> Iterator[Form]:
    def from_registers(name: str) -> Semantics:
        operation = scalar.REGISTER_OPERATIONS[name]
        return lambda d, a, b, immediates: operation(d, a, b)

    # A negative bound would make an empty interval, which the manual leaves open.
    bounded: Domain = lambda a, b, immediates: b < 1 << 31  # noqa: E731
    for name, (f7, f3) in _SCALAR_ONE_SOURCE.items():
        yield Form(name, "5.3", Layout.ONE_SOURCE, 0x33, f3, f7, from_registers(name))
    for name, (f7, f3) in _SCALAR_TWO_SOURCES.items():
        domain = bounded if name in ("p.clipr", "p.clipur") else everywhere
        yield Form(name, "5.3", Layout.TWO_SOURCES, 0x33, f3, f7, from_registers(name), domain)
    yield Form("p.clip", "5.3", Layout.SMALL, 0x33, 1, 0x0A, lambda d, a, b, i: scalar.clip(a, i[0]))
    yield Form("p.clipu", "5.3", Layout.SMALL, 0x33, 2, 0x0A, lambda d, a, b, i: scalar.clip_unsigned(a, i[0]))


def _bit_field_forms() -> Iterator[Form]:
    # A field that leaves the register has no definition.
    def inside(width_less_one: int, position: int) -> bool:
        return width_less_one + position < 32

    def immediate_form(name: str) -> Form:
        operation = scalar.BIT_FIELD_OPERATIONS[name]
        return Form(
            name,
            "5.3",
            Layout.FIELD,
            0x33,
            _BIT_FIELD_F3[name],
            0x60,
            lambda d, a, b, i: operation(d, a, i[1], i[0] + 1),
            lambda a, b, i: inside(*i),
        )

    def register_form(name: str) -> Form:
        operation = scalar.BIT_FIELD_OPERATIONS[name]
        return Form(
            name + "r",
            "5.3",
            Layout.TWO_SOURCES,
            0x33,
            _BIT_FIELD_F3[name],
            0x40,
            lambda d, a, b, i: operation(d, a, b & 31, (b >> 5 & 31) + 1),
            lambda a, b, i: inside(b >> 5 & 31, b & 31),
        )

    for name in _BIT_FIELD_F3:
        yield immediate_form(name)
        yield register_form(name)


def _multiply_forms() -> Iterator[Form]:
    def form(name: str, layout: Layout, f2: int, accumulates: bool, rounded: bool) -> Form:
        upper, is_signed = bool(f2 & 1), bool(f2 & 2)

        def semantics(d: int, a: int, b: int, immediates: tuple[int, ...]) -> int:
            product = scalar.half(a, upper, is_signed) * scalar.half(b, upper, is_signed)
            shift = immediates[0] if immediates else 0
            return scalar.normalise((d if accumulates else 0) + product, shift, is_signed, rounded)

        return Form(name, "5.4", layout, 0x5B, accumulates | rounded << 2, f2 << 5, semantics)

    for f2, suffix in ((0b00, "u"), (0b01, "hhu"), (0b10, "s"), (0b11, "hhs")):
        yield form(f"p.mul{suffix}", Layout.TWO_SOURCES, f2, accumulates=False, rounded=False)
        for stem, accumulates in (("mul", False), ("mac", True)):
            yield form(f"p.{stem}{suffix}N", Layout.SHIFT, f2, accumulates, rounded=False)
            yield form(f"p.{stem}{suffix}RN", Layout.SHIFT, f2, accumulates, rounded=True)


def _normalised_add_forms() -> Iterator[Form]:
    def form(sign: int, is_signed: bool, rounded: bool, from_register: bool) -> Form:
        def semantics(d: int, a: int, b: int, immediates: tuple[int, ...]) -> int:
            left, right, shift = (d, a, b & 31) if from_register else (a, b, immediates[0])
            return scalar.normalise(left + sign * right, shift, is_signed, rounded)

        stem = ("p.add" if sign > 0 else "p.sub") + ("" if is_signed else "u")
        name = stem + ("RN" if rounded else "N") + ("r" if from_register else "")
        f2 = (0 if is_signed else 2) | from_register
        f3 = (2 if sign > 0 else 3) | rounded << 2
        layout = Layout.TWO_SOURCES if from_register else Layout.SHIFT
        return Form(name, "5.4", layout, 0x5B, f3, f2 << 5, semantics)

    for sign in (1, -1):
        for is_signed in (True, False):
            for rounded in (False, True):
                for from_register in (False, True):
                    yield form(sign, is_signed, rounded, from_register)


def _simd_family(name: str, section: str, f7: int, operation: Semantics, immediate_signed: bool) -> Iterator[Form]:
    """The six operand shapes of one SIMD operation; `operation` gets the lane width as its only immediate."""
    for suffix, width in _LANE_WIDTHS.items():
        byte = int(suffix == "b")

        def vector(d: int, a: int, b: int, i: tuple[int, ...], width: int = width) -> int:
            return operation(d, a, b, (width,))

        def replicated(d: int, a: int, b: int, i: tuple[int, ...], width: int = width) -> int:
            return operation(d, a, simd.broadcast_lane(b, width), (width,))

        def constant(d: int, a: int, b: int, i: tuple[int, ...], width: int = width) -> int:
            return operation(d, a, simd.broadcast_immediate(i[0], width, immediate_signed), (width,))

        yield Form(f"{name}.{suffix}", section, Layout.TWO_SOURCES, 0x57, 0 + byte, f7, vector)
        yield Form(f"{name}.sc.{suffix}", section, Layout.TWO_SOURCES, 0x57, 4 + byte, f7, replicated)
        yield Form(f"{name}.sci.{suffix}", section, Layout.SIX, 0x57, 6 + byte, f7, constant)


def _simd_forms() -> Iterator[Form]:
    def lanewise(operation: simd.LaneOperation) -> Semantics:
        return lambda d, a, b, i: simd.lanewise(operation, a, b, i[0])

    def dot(name: str) -> Semantics:
        return lambda d, a, b, i: simd.dot_product(name, d, a, b, i[0])

    for name, f5 in _ARITHMETIC_F5.items():
        operation, immediate_signed = simd.ARITHMETIC[name]
        yield from _simd_family(name, "5.5", f5 << 2, lanewise(operation), immediate_signed)
    for name, f5 in _COMPARE_F5.items():
        operation, immediate_signed = simd.COMPARE[name]
        yield from _simd_family(name, "5.5", f5 << 2 | 2, lanewise(operation), immediate_signed)
    for name, f5 in _DOT_F5.items():
        yield from _simd_family(name, "5.6", f5 << 2, dot(name), simd.DOT_PRODUCTS[name][1])


def _lane_access_forms() -> Iterator[Form]:
    for suffix, width in _LANE_WIDTHS.items():
        byte, count = int(suffix == "b"), 32 // width

        def absolute(d: int, a: int, b: int, i: tuple[int, ...], width: int = width) -> int:
            return simd.absolute(a, width)

        def extract(d: int, a: int, b: int, i: tuple[int, ...], width: int = width) -> int:
            return scalar.extract(a, i[0] * width, width)

        def extract_unsigned(d: int, a: int, b: int, i: tuple[int, ...], width: int = width) -> int:
            return scalar.extract_unsigned(a, i[0] * width, width)

        def insert(d: int, a: int, b: int, i: tuple[int, ...], width: int = width) -> int:
            return simd.insert_lane(d, a, i[0], width)

        def lane_exists(a: int, b: int, i: tuple[int, ...], count: int = count) -> bool:
            return i[0] < count

        yield Form(f"pv.abs.{suffix}", "5.5", Layout.ONE_SOURCE, 0x57, byte, 0b01110 << 2, absolute)
        yield Form(f"pv.extract.{suffix}", "5.5", Layout.SIX, 0x57, 6 + byte, 0b01111 << 2, extract, lane_exists)
        yield Form(
            f"pv.extractu.{suffix}", "5.5", Layout.SIX, 0x57, 6 + byte, 0b10010 << 2, extract_unsigned, lane_exists
        )
        yield Form(f"pv.insert.{suffix}", "5.5", Layout.SIX, 0x57, 6 + byte, 0b10110 << 2, insert, lane_exists)


def _shuffle_forms() -> Iterator[Form]:
    def two(name: str, f5: int, f3: int, semantics: Semantics) -> Form:
        return Form(name, "5.7", Layout.TWO_SOURCES, 0x57, f3, f5 << 2, semantics)

    def byte_immediate(top: int) -> Semantics:
        return lambda d, a, b, i: simd.shuffle_immediate_bytes(a, i[0], top)

    yield two("pv.shuffle.h", 0b11000, 0, lambda d, a, b, i: simd.shuffle(a, b, 16))
    yield two("pv.shuffle.b", 0b11000, 1, lambda d, a, b, i: simd.shuffle(a, b, 8))
    halves: Semantics = lambda d, a, b, i: simd.shuffle_immediate_halves(a, i[0])  # noqa: E731
    yield Form("pv.shuffle.sci.h", "5.7", Layout.SIX, 0x57, 6, 0b11000 << 2, halves)
    for top, f5 in enumerate((0b11000, 0b11101, 0b11110, 0b11111)):
        yield Form(f"pv.shuffleI{top}.sci.b", "5.7", Layout.SIX, 0x57, 7, f5 << 2, byte_immediate(top))
    yield two("pv.shuffle2.h", 0b11001, 0, lambda d, a, b, i: simd.shuffle_two(d, a, b, 16))
    yield two("pv.shuffle2.b", 0b11001, 1, lambda d, a, b, i: simd.shuffle_two(d, a, b, 8))
    yield two("pv.pack.h", 0b11010, 0, lambda d, a, b, i: (a & 0xFFFF) << 16 | b & 0xFFFF)
    yield two("pv.packhi.b", 0b11011, 1, lambda d, a, b, i: simd.pack_bytes(d, a, b, 2))
    yield two("pv.packlo.b", 0b11100, 1, lambda d, a, b, i: simd.pack_bytes(d, a, b, 0))


FORMS: tuple[Form, ...] = (
    *_scalar_forms(),
    *_bit_field_forms(),
    *_multiply_forms(),
    *_normalised_add_forms(),
    *_simd_forms(),
    *_lane_access_forms(),
    *_shuffle_forms(),
)
FORM_BY_NAME: dict[str, Form] = {form.name: form for form in FORMS}
