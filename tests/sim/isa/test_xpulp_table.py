"""The XpulpV2 table is complete, unambiguous, and agrees with hand-computed words and values.

Counts per manual section: 5.3 has 22 register or clip forms and 5 bit-field operations in 2 forms; 5.4 has 32 forms
plus the 4 plain multiplications that are shift 0; 5.5 has 14 operations and 10 comparisons in 6 operand shapes and 4
lane operations in 2; 5.6 has 6 dot products in 6 shapes; 5.7 has 12 forms. The sum is the 268 variants of section 9.
"""

from collections import Counter

import pytest

from .builder import BRANCH_FORMS
from .encode import r_type
from .loop_builder import LOOP_FORMS
from .xpulp_form import Layout
from .xpulp_memory import MEMORY_FORMS
from .xpulp_table import FORM_BY_NAME, FORMS


def test_every_form_of_the_manual_is_listed_once() -> None:
    expected = {"5.3": 22 + 5 * 2, "5.4": 32 + 4, "5.5": (14 + 10) * 6 + 4 * 2, "5.6": 6 * 6, "5.7": 12}
    assert Counter(form.section for form in FORMS) == expected
    assert len(FORM_BY_NAME) == len(FORMS) == 268


def test_all_sections_together_have_301_forms() -> None:
    # 5.1 loads and stores, 5.2 loops, 5.3 immediate branches, 5.3 to 5.7 computing forms, 5.8 p.elw
    assert len(MEMORY_FORMS) + len(LOOP_FORMS) + len(BRANCH_FORMS) + len(FORMS) + 1 == 24 + 6 + 2 + 268 + 1 == 301


def test_no_two_forms_share_a_word() -> None:
    # The plain multiplications are the shift-0 words of the normalising ones; nothing else may overlap.
    owner: dict[int, str] = {}
    for form in FORMS:
        if form.name in ("p.muls", "p.mulu", "p.mulhhs", "p.mulhhu"):
            continue
        immediate_bits = {Layout.FIELD: 32, Layout.SHIFT: 32, Layout.SIX: 2}.get(form.layout, 1)
        for low in range(immediate_bits):
            key = r_type(form.opcode, form.f3, form.f7 | low, 0, 0, 0)
            assert key not in owner, f"{form.name} and {owner[key]} share {key:#010x}"
            owner[key] = form.name


# From the encoding comparison of the toolchain notes: name -> (opcode, f3, f7) with zero immediates
PUBLISHED = {
    "p.mac": (0x33, 0, 0x21),
    "p.msu": (0x33, 1, 0x21),
    "p.mulsRN": (0x5B, 4, 0x40),
    "p.macsRN": (0x5B, 5, 0x40),
    "p.addN": (0x5B, 2, 0x00),
    "p.addRN": (0x5B, 6, 0x00),
    "p.clip": (0x33, 1, 0x0A),
    "p.clipu": (0x33, 2, 0x0A),
    "p.clipr": (0x33, 5, 0x0A),
    "p.clipur": (0x33, 6, 0x0A),
    "p.min": (0x33, 4, 0x02),
    "p.max": (0x33, 6, 0x02),
    "p.abs": (0x33, 0, 0x02),
    "p.exths": (0x33, 4, 0x08),
    "p.extbz": (0x33, 7, 0x08),
    "p.fl1": (0x33, 1, 0x08),
    "p.clb": (0x33, 2, 0x08),
    "p.cnt": (0x33, 3, 0x08),
    "p.extract": (0x33, 0, 0x60),
    "pv.add.b": (0x57, 1, 0x00),
    "pv.add.h": (0x57, 0, 0x00),
    "pv.min.b": (0x57, 1, 0x10),
    "pv.max.b": (0x57, 1, 0x18),
    "pv.dotsp.b": (0x57, 1, 0x4C),
    "pv.sdotsp.b": (0x57, 1, 0x5C),
    "pv.sdotsp.h": (0x57, 0, 0x5C),
    "pv.sdotup.b": (0x57, 1, 0x50),
    "pv.sdotusp.b": (0x57, 1, 0x54),
    "pv.shuffle2.b": (0x57, 1, 0x64),
    "pv.pack.h": (0x57, 0, 0x68),
    "pv.packlo.b": (0x57, 1, 0x70),
    "pv.packhi.b": (0x57, 1, 0x6C),
    "pv.add.sc.b": (0x57, 5, 0x00),
    "pv.add.sci.h": (0x57, 6, 0x00),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_encoding_equals_the_published_fields(name: str) -> None:
    form = FORM_BY_NAME[name]
    assert (form.opcode, form.f3, form.f7) == PUBLISHED[name]


# Values worked out by hand: (name, old rd, rs1, rs2, immediates, result)
DIRECTED = [
    ("p.abs", 0, 0x80000000, 0, (), 0x80000000),
    ("p.abs", 0, 0xFFFFFFFF, 0, (), 1),
    ("p.slet", 0, 0x80000000, 0x7FFFFFFF, (), 1),
    ("p.sletu", 0, 0x80000000, 0x7FFFFFFF, (), 0),
    ("p.ror", 0, 0x00000001, 33, (), 0x80000000),
    ("p.ff1", 0, 0, 0, (), 32),
    ("p.ff1", 0, 0x80000000, 0, (), 31),
    ("p.fl1", 0, 0, 0, (), 32),
    ("p.fl1", 0, 1, 0, (), 0),
    ("p.clb", 0, 0, 0, (), 0),
    ("p.clb", 0, 1, 0, (), 30),
    ("p.clb", 0, 0xFFFFFFFF, 0, (), 31),
    ("p.clb", 0, 0x80000000, 0, (), 0),
    ("p.cnt", 0, 0xFFFFFFFF, 0, (), 32),
    ("p.clip", 0, 5, 0, (0,), 0),
    ("p.clip", 0, 0xFFFFFF00, 0, (0,), 0xFFFFFFFF),
    ("p.clip", 0, 1000, 0, (8,), 127),
    ("p.clip", 0, 0x80000000, 0, (31,), 0xC0000000),
    ("p.clipu", 0, 1000, 0, (8,), 127),
    ("p.clipu", 0, 0xFFFFFFFF, 0, (8,), 0),
    ("p.clipu", 0, 77, 0, (0,), 0),
    ("p.clipr", 0, 0xFFFFFF00, 127, (), 0xFFFFFF80),
    ("p.clipur", 0, 300, 255, (), 255),
    ("p.mac", 10, 0xFFFFFFFF, 3, (), 7),
    ("p.msu", 10, 0xFFFFFFFF, 3, (), 13),
    ("p.extract", 0, 0x00000F80, 0, (4, 7), 0xFFFFFFFF),
    ("p.extractu", 0, 0x00000F80, 0, (4, 7), 0x1F),
    ("p.extract", 0, 0x80000000, 0, (31, 0), 0x80000000),
    ("p.insert", 0xFFFFFFFF, 0, 0, (7, 8), 0xFFFF00FF),
    ("p.bclr", 0, 0xFFFFFFFF, 0, (0, 31), 0x7FFFFFFF),
    ("p.bset", 0, 0, 0, (31, 0), 0xFFFFFFFF),
    ("p.extractur", 0, 0x12345678, 7 << 5 | 8, (), 0x56),
    ("p.mulsN", 0, 0xFFFF8000, 0x00008000, (0,), 0x40000000),
    ("p.mulsRN", 0, 0x0000FFFF, 0x00000003, (1,), 0xFFFFFFFF),
    ("p.muluN", 0, 0xFFFF, 0xFFFF, (31,), 1),
    ("p.mulhhs", 0, 0xFFFF0000, 0x00020000, (), 0xFFFFFFFE),
    ("p.macuRN", 1, 2, 3, (1,), 4),
    ("p.addRN", 0, 0xFFFFFFFD, 0, (1,), 0xFFFFFFFF),
    ("p.adduN", 0, 0xFFFFFFFE, 0, (1,), 0x7FFFFFFF),
    ("p.subNr", 20, 4, 2, (), 4),
    ("pv.add.b", 0, 0x7F80FF01, 0x01FF01FF, (), 0x807F0000),
    ("pv.avg.b", 0, 0x7F7F7F7F, 0x01010101, (), 0xC0C0C0C0),
    ("pv.avgu.b", 0, 0xFFFFFFFF, 0x01010101, (), 0),
    ("pv.sra.h", 0, 0x80007FFF, 0x0011000F, (), 0xC0000000),
    ("pv.add.sci.h", 0, 0, 0, (0x20,), 0xFFE0FFE0),
    ("pv.maxu.sci.b", 0, 0, 0, (0x3F,), 0x3F3F3F3F),
    ("pv.cmpgtu.b", 0, 0xFF000180, 0x0100FF7F, (), 0xFF0000FF),
    ("pv.cmpgt.b", 0, 0xFF000180, 0x0100FF7F, (), 0x0000FF00),
    ("pv.abs.b", 0, 0x80FF017F, 0, (), 0x8001017F),
    ("pv.extract.b", 0, 0x80FF017F, 0, (3,), 0xFFFFFF80),
    ("pv.extractu.h", 0, 0x80FF017F, 0, (1,), 0x80FF),
    ("pv.insert.b", 0x11223344, 0xAABBCCDD, 0, (2,), 0x11DD3344),
    ("pv.dotsp.b", 99, 0x80808080, 0x80808080, (), 0x10000),
    ("pv.sdotup.b", 1, 0xFFFFFFFF, 0xFFFFFFFF, (), 4 * 255 * 255 + 1),
    ("pv.sdotusp.b", 0, 0xFFFFFFFF, 0xFFFFFFFF, (), -4 * 255 & 0xFFFFFFFF),
    ("pv.dotsp.sci.h", 0, 0x00010002, 0, (0x3F,), 0xFFFFFFFD),
    ("pv.shuffle.b", 0, 0x44332211, 0x00010203, (), 0x11223344),
    ("pv.shuffle.sci.h", 0, 0xAAAA5555, 0, (1,), 0x5555AAAA),
    ("pv.shuffleI2.sci.b", 0, 0x44332211, 0, (0b100111,), 0x33332244),
    ("pv.shuffle2.b", 0x44332211, 0x88776655, 0x00040703, (), 0x11558844),
    ("pv.shuffle2.h", 0x22221111, 0x44443333, 0x00020001, (), 0x33332222),
    ("pv.pack.h", 0, 0x1111AAAA, 0x2222BBBB, (), 0xAAAABBBB),
    ("pv.packhi.b", 0x11223344, 0xAA, 0xBB, (), 0xAABB3344),
    ("pv.packlo.b", 0x11223344, 0xAA, 0xBB, (), 0x1122AABB),
]


@pytest.mark.parametrize("case", DIRECTED, ids=lambda case: f"{case[0]}-{case[2]:x}-{case[3]:x}")
def test_model_gives_hand_computed_values(case: tuple[str, int, int, int, tuple[int, ...], int]) -> None:
    name, d, a, b, immediates, expected = case
    assert FORM_BY_NAME[name].semantics(d, a, b, immediates) == expected
