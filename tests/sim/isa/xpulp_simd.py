"""Arithmetic of the SIMD XpulpV2 instructions on lists of lanes."""

from collections.abc import Callable

from .xpulp_scalar import MASK, signed

Lanes = list[int]
LaneOperation = Callable[[int, int, int], int]


def split(value: int, width: int) -> Lanes:
    """Unsigned lanes of a register, lane 0 first."""
    return [value >> low & ((1 << width) - 1) for low in range(0, 32, width)]


def join(lanes: Lanes, width: int) -> int:
    """Register holding the lanes reduced modulo their width."""
    return sum((lane & ((1 << width) - 1)) << width * index for index, lane in enumerate(lanes))


def signed_pair(operation: Callable[[int, int], int]) -> LaneOperation:
    """Give the operation both lanes as signed numbers."""
    return lambda a, b, width: operation(signed(a, width), signed(b, width))


def unsigned_pair(operation: Callable[[int, int], int]) -> LaneOperation:
    """Give the operation both lanes as unsigned numbers."""
    return lambda a, b, width: operation(a, b)


def average(a: int, b: int, width: int) -> int:
    """Half of the wrapped sum taken as a signed lane."""
    return signed(a + b, width) >> 1


def average_unsigned(a: int, b: int, width: int) -> int:
    """Half of the wrapped sum taken as an unsigned lane."""
    return ((a + b) & ((1 << width) - 1)) >> 1


# name -> (operation on two unsigned lane images, .sci immediate is sign-extended)
ARITHMETIC: dict[str, tuple[LaneOperation, bool]] = {
    "pv.add": (unsigned_pair(lambda a, b: a + b), True),
    "pv.sub": (unsigned_pair(lambda a, b: a - b), True),
    "pv.avg": (average, True),
    "pv.avgu": (average_unsigned, False),
    "pv.min": (signed_pair(min), True),
    "pv.minu": (unsigned_pair(min), False),
    "pv.max": (signed_pair(max), True),
    "pv.maxu": (unsigned_pair(max), False),
    "pv.srl": (lambda a, b, width: a >> b % width, False),
    "pv.sra": (lambda a, b, width: signed(a, width) >> b % width, False),
    "pv.sll": (lambda a, b, width: a << b % width, False),
    "pv.or": (unsigned_pair(lambda a, b: a | b), True),
    "pv.xor": (unsigned_pair(lambda a, b: a ^ b), True),
    "pv.and": (unsigned_pair(lambda a, b: a & b), True),
}

COMPARE: dict[str, tuple[LaneOperation, bool]] = {
    "pv.cmpeq": (signed_pair(lambda a, b: -(a == b)), True),
    "pv.cmpne": (signed_pair(lambda a, b: -(a != b)), True),
    "pv.cmpgt": (signed_pair(lambda a, b: -(a > b)), True),
    "pv.cmpge": (signed_pair(lambda a, b: -(a >= b)), True),
    "pv.cmplt": (signed_pair(lambda a, b: -(a < b)), True),
    "pv.cmple": (signed_pair(lambda a, b: -(a <= b)), True),
    "pv.cmpgtu": (unsigned_pair(lambda a, b: -(a > b)), False),
    "pv.cmpgeu": (unsigned_pair(lambda a, b: -(a >= b)), False),
    "pv.cmpltu": (unsigned_pair(lambda a, b: -(a < b)), False),
    "pv.cmpleu": (unsigned_pair(lambda a, b: -(a <= b)), False),
}

# name -> (rs1 signed, rs2 signed, accumulates)
DOT_PRODUCTS: dict[str, tuple[bool, bool, bool]] = {
    "pv.dotup": (False, False, False),
    "pv.dotusp": (False, True, False),
    "pv.dotsp": (True, True, False),
    "pv.sdotup": (False, False, True),
    "pv.sdotusp": (False, True, True),
    "pv.sdotsp": (True, True, True),
}


def broadcast_immediate(immediate: int, width: int, is_signed: bool) -> int:
    """Register image of the six-bit .sci constant in every lane."""
    value = signed(immediate, 6) if is_signed else immediate
    return join([value] * (32 // width), width)


def broadcast_lane(b: int, width: int) -> int:
    """Register image of lane 0 in every lane."""
    return join([b] * (32 // width), width)


def lanewise(operation: LaneOperation, a: int, b: int, width: int) -> int:
    """Apply an operation to each pair of lanes."""
    return join([operation(x, y, width) for x, y in zip(split(a, width), split(b, width), strict=True)], width)


def dot_product(name: str, d: int, a: int, b: int, width: int) -> int:
    """Sum of lane products with the signedness of the named instruction, plus the old destination if it accumulates."""
    a_signed, b_signed, accumulates = DOT_PRODUCTS[name]
    total = d if accumulates else 0
    for x, y in zip(split(a, width), split(b, width), strict=True):
        total += (signed(x, width) if a_signed else x) * (signed(y, width) if b_signed else y)
    return total & MASK


def absolute(a: int, width: int) -> int:
    """Lane-wise magnitude; the most negative lane stays itself."""
    return join([abs(signed(lane, width)) for lane in split(a, width)], width)


def insert_lane(d: int, a: int, index: int, width: int) -> int:
    """Old destination with one lane replaced by lane 0 of the source."""
    lanes = split(d, width)
    lanes[index] = a
    return join(lanes, width)


def shuffle(a: int, selector: int, width: int) -> int:
    """Each lane chosen from rs1 by the matching selector lane modulo the lane count."""
    lanes = split(a, width)
    return join([lanes[index % len(lanes)] for index in split(selector, width)], width)


def shuffle_two(d: int, a: int, selector: int, width: int) -> int:
    """Each lane from rs1 or the old destination, by the selector bit just above the lane index."""
    sources = split(d, width) + split(a, width)
    return join([sources[index % len(sources)] for index in split(selector, width)], width)


def shuffle_immediate_bytes(a: int, immediate: int, top: int) -> int:
    """Lanes 0..2 from two-bit groups of the constant, lane 3 named by the opcode."""
    lanes = split(a, 8)
    return join([lanes[immediate & 3], lanes[immediate >> 2 & 3], lanes[immediate >> 4 & 3], lanes[top]], 8)


def shuffle_immediate_halves(a: int, immediate: int) -> int:
    """Lane 0 from bit 0 and lane 1 from bit 1 of the constant."""
    lanes = split(a, 16)
    return join([lanes[immediate & 1], lanes[immediate >> 1 & 1]], 16)


def pack_bytes(d: int, a: int, b: int, low: int) -> int:
    """Old destination with byte low+1 from rs1 and byte low from rs2."""
    lanes = split(d, 8)
    lanes[low], lanes[low + 1] = b, a
    return join(lanes, 8)
