"""Cases the random comparison leaves out: NaNs in fmin and fmax, code that rewrites itself, the hart number.

The expected values are those of the RISC-V manual, version 2.2 of F: the number wins over a NaN of either kind, a
signalling NaN raises the invalid flag, and two NaNs give the canonical one.
"""

import pytest

from . import rv32_encode as rv
from .execute import run_on_simulator
from .image import L1_BASE, L2_CODE, Encoded, join_code, make_image

ONE, MINUS_TWO, ZERO, MINUS_ZERO = 0x3F800000, 0xC0000000, 0x00000000, 0x80000000
QUIET, NEGATIVE_QUIET, SIGNALLING, CANONICAL = 0x7FC00001, 0xFFC12345, 0x7F800001, 0x7FC00000
INVALID = 0x10

# (a, b, minimum, maximum, flags)
MINIMUM_MAXIMUM = [
    (QUIET, ONE, ONE, ONE, 0),
    (ONE, QUIET, ONE, ONE, 0),
    (MINUS_TWO, NEGATIVE_QUIET, MINUS_TWO, MINUS_TWO, 0),
    (SIGNALLING, ONE, ONE, ONE, INVALID),
    (ONE, SIGNALLING, ONE, ONE, INVALID),
    (QUIET, NEGATIVE_QUIET, CANONICAL, CANONICAL, 0),
    (SIGNALLING, QUIET, CANONICAL, CANONICAL, INVALID),
    (SIGNALLING, SIGNALLING, CANONICAL, CANONICAL, INVALID),
    (ZERO, MINUS_ZERO, MINUS_ZERO, ZERO, 0),
    (MINUS_ZERO, ZERO, MINUS_ZERO, ZERO, 0),
]


def run_words(words: list[int], results: int, core: int = 0) -> list[int]:
    """Execute with x31 pointing to a result area in L1 and return its words."""
    code = join_code(Encoded("", word) for word in [*rv.load_constant(31, L1_BASE), *words])
    (content,) = run_on_simulator(make_image(code, ()), [(L1_BASE, 4 * results)], core)
    return [int.from_bytes(content[4 * index : 4 * index + 4], "little") for index in range(results)]


@pytest.mark.parametrize(("a", "b", "minimum", "maximum", "flags"), MINIMUM_MAXIMUM)
def test_minimum_and_maximum_with_nan_and_signed_zero(a: int, b: int, minimum: int, maximum: int, flags: int) -> None:
    words = [*rv.load_constant(5, a), rv.float_unary("fmv.w.x", 1, 5, 0)]
    words += [*rv.load_constant(5, b), rv.float_unary("fmv.w.x", 2, 5, 0)]
    for index, name in enumerate(("fmin.s", "fmax.s")):
        words += [
            rv.csr_op("csrrwi", 0, rv.CSRS["fflags"], 0),
            rv.float_fixed(name, 3, 1, 2),
            rv.csr_op("csrrs", 6, rv.CSRS["fflags"], 0),
            rv.float_store(3, 31, 8 * index),
            rv.store("sw", 6, 31, 8 * index + 4),
        ]
    assert run_words(words, 4) == [minimum, flags, maximum, flags]


def test_rewritten_instruction_takes_effect_after_fence_i() -> None:
    # The instruction at `patched` runs once as it is, is overwritten, and runs again after fence.i.
    setup = [
        rv.immediate_op("addi", 5, 0, 0),
        rv.immediate_op("addi", 8, 0, 2),
        *rv.load_constant(7, rv.immediate_op("addi", 5, 5, 100)),
    ]
    patched = L2_CODE + 4 * (2 + len(setup) + 2)
    words = [
        *setup,
        *rv.load_constant(6, patched),
        rv.immediate_op("addi", 5, 5, 1),
        rv.store("sw", 7, 6, 0),
        rv.FENCE_I,
        rv.immediate_op("addi", 8, 8, -1),
        rv.branch("bne", 8, 0, -16),
        rv.store("sw", 5, 31, 0),
    ]
    assert run_words(words, 1) == [101]


@pytest.mark.parametrize("core", range(8))
def test_hart_number_is_the_core_number_under_both_addresses(core: int) -> None:
    words = []
    for index, csr in enumerate((0xF14, 0x014)):
        words += [rv.csr_op("csrrs", 5, csr, 0), rv.store("sw", 5, 31, 4 * index)]
    assert run_words(words, 2, core) == [core, core]
