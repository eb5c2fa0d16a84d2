"""The operand sets can tell every XpulpV2 form from every other one, and the comparison reports what it sees.

A decoder that swaps two instructions, or a wrong sign or rounding in one of them, is the kind of fault the table test
must find; these tests need no simulator.
"""

import random
from collections.abc import Sequence

import pytest

from .builder import Builder
from .image import Image
from .test_xpulp_compute import build
from .xpulp_form import Layout
from .xpulp_operands import cases
from .xpulp_table import FORM_BY_NAME, FORMS


@pytest.mark.parametrize("name", FORM_BY_NAME)
def test_operand_sets_separate_a_form_from_all_others(name: str) -> None:
    form = FORM_BY_NAME[name]
    chosen = [case for case in cases(form, random.Random(name), pointer=31) if case.rd not in (0, case.rs1, case.rs2)]
    for other in FORMS:
        # Bitwise operations on two vectors do not depend on the lane size.
        same_bits = name[:-2] == other.name[:-2] and name[:-2] in ("pv.or", "pv.xor", "pv.and")
        if other.layout is form.layout and other is not form and not same_bits:
            assert any(
                form.semantics(case.old, case.a, case.b, case.immediates)
                != other.semantics(case.old, case.a, case.b, case.immediates)
                for case in chosen
                if other.domain(case.a, case.b, case.immediates)
            ), f"no operand set of {name} gives another result than {other.name}"


def perturbed(builder: Builder, slot: int) -> list[str]:
    """Differences seen when a simulator is right in everything but one bit of one result."""
    state = builder.model()[1]

    def execute(image: Image, ranges: Sequence[tuple[int, int]], core: int) -> list[bytes]:
        results, *others = [bytearray(state.read(address, size)) for address, size in ranges]
        results[4 * slot] ^= 0x80
        return [bytes(results), *map(bytes, others)]

    return list(builder.differences(execute=execute))


@pytest.mark.parametrize("name", ["p.clip", "p.addRN", "pv.sdotsp.b", "pv.shuffle2.h"])
def test_one_wrong_result_is_reported_with_its_operands(name: str) -> None:
    builder = build(FORM_BY_NAME[name])
    for slot in (0, len(builder.slots) // 2, len(builder.slots) - 1):
        (difference,) = perturbed(builder, slot)
        assert difference.startswith(builder.slots[slot]) and "expected" in difference
    assert builder.slots[0].startswith(name) and " rs1=" in builder.slots[0]


def test_layouts_are_all_in_use() -> None:
    assert {form.layout for form in FORMS} == set(Layout)
