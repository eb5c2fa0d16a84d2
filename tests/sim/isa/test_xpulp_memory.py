"""Every XpulpV2 load and store form (section 5.1) moves the bytes and pointers that the Python model does.

The data window lies in L1 and in L2, addresses take all alignments, and registers are shared in every way that has a
meaning: a loaded value wins over the new base, and sources are read before anything is written.
"""

import random

import pytest

from .builder import Builder
from .image import L1_BASE
from .xpulp_memory import MEMORY_FORMS, Addressing, MemoryForm

WINDOW_BYTES = 256
WINDOWS = {"L1": L1_BASE + 0x1000, "L1 alias": 0x1000, "L2": 0x1C180000}
IMMEDIATES = (-2048, -4, -1, 0, 1, 2, 4, 31, 2047)


def test_every_memory_form_of_the_manual_is_listed_once() -> None:
    # 8 immediate post-increment forms and 2 x 8 register forms
    assert len({form.name for form in MEMORY_FORMS}) == len(MEMORY_FORMS) == 24


# From the encoding comparison of the toolchain notes: register forms as (opcode, f3, f7)
PUBLISHED = {
    "p.lw reg(rs1!)": (0x0B, 7, 0x10),
    "p.lb reg(rs1!)": (0x0B, 7, 0x00),
    "p.lhu reg(rs1!)": (0x0B, 7, 0x28),
    "p.lw reg(rs1)": (0x03, 7, 0x10),
    "p.lbu reg(rs1)": (0x03, 7, 0x20),
    "p.sw reg(rs1!)": (0x2B, 6, 0x00),
    "p.sb reg(rs1!)": (0x2B, 4, 0x00),
    "p.sw reg(rs1)": (0x23, 6, 0x00),
    "p.sh reg(rs1)": (0x23, 5, 0x00),
    "p.lhu imm(rs1!)": (0x0B, 5, 0x00),
    "p.sw imm(rs1!)": (0x2B, 2, 0x00),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_encoding_equals_the_published_fields(name: str) -> None:
    (form,) = (form for form in MEMORY_FORMS if form.name == name)
    assert (form.opcode, form.f3, form.f7) == PUBLISHED[name]


def build(form: MemoryForm, window: int) -> Builder:
    pick = random.Random(f"{form.name} {window}")
    builder = Builder(pointer=pick.randrange(1, 32))
    builder.data(window, pick.randbytes(WINDOW_BYTES))
    for register in range(1, 32):
        builder.constant(register, pick.getrandbits(32))
    free = [register for register in range(1, 32) if register != builder.pointer]
    aliases = ["dbo", "bbo", "obo", "0bo", "db0", "dbo"]
    # A base that is its own increment, or no base at all, makes a sensible address in one addressing mode each.
    aliases += {Addressing.POST_REGISTER: ["dbb"], Addressing.REGISTER_OFFSET: ["d0o"]}.get(form.addressing, [])
    for index in range(16 * len(aliases)):
        names = dict(zip("dbo", pick.sample(free, 3), strict=True)) | {"0": 0}
        data, base, offset_register = (names[letter] for letter in aliases[index % len(aliases)])
        address = window + pick.randrange(WINDOW_BYTES - 4)
        increment = pick.choice((*IMMEDIATES, pick.randrange(-2048, 2048)))
        if form.addressing is not Addressing.REGISTER_OFFSET:
            start = address
        else:
            increment = address if base == 0 else increment if offset_register else 0
            start = address - increment
        builder.constant(data, pick.getrandbits(32))
        if form.addressing is Addressing.POST_IMMEDIATE:
            offset = increment
        else:
            offset = offset_register
            builder.constant(offset_register, increment)
        builder.constant(base, start)
        builder.memory(form, data, base, offset)
        text = form.text(data, base, offset)
        builder.record(data, f"data register of {text} at {address:#x}")
        builder.record(base, f"base register of {text} at {address:#x}")
    builder.record_all("after the last case")
    return builder


@pytest.mark.parametrize("place", WINDOWS)
@pytest.mark.parametrize("form", MEMORY_FORMS, ids=lambda form: form.name)
def test_memory_form_agrees_with_the_model(form: MemoryForm, place: str) -> None:
    window = WINDOWS[place]
    # The alias is a view that only cores have; the memory itself is inspected at its own address.
    seen = WINDOWS["L1"] if place == "L1 alias" else window
    builder = build(form, window)
    builder.regions = [type(region)(seen, region.content) for region in builder.regions]
    differences = list(builder.differences(windows=((seen, WINDOW_BYTES),)))
    assert not differences, f"{form.name}: {len(differences)} differ\n" + "\n".join(differences[:8])
