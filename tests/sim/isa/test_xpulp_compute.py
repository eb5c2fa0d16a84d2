"""Every XpulpV2 computing form (sections 5.3 to 5.7) gives the value of the Python model.

One case per form. Each runs the form on all corner operands, all immediates, all ways of sharing registers and random
values, and then compares the whole register file, so that a write to a wrong register is seen too.
"""

import random

import pytest

from .builder import Builder
from .xpulp_form import Form
from .xpulp_operands import cases, lane_width
from .xpulp_table import FORM_BY_NAME


def build(form: Form) -> Builder:
    pick = random.Random(form.name)
    builder = Builder(pointer=pick.randrange(1, 32))
    for register in range(1, 32):
        builder.constant(register, pick.getrandbits(32))
    for case in cases(form, pick, builder.pointer):
        for register, value in ((case.rd, case.old), (case.rs1, case.a), (case.rs2, case.b)):
            if register and (register != case.rs2 or form.layout.reads_rs2):
                builder.constant(register, value)
        builder.form(form, case.rd, case.rs1, case.rs2, case.immediates)
        instruction = form.text(case.rd, case.rs1, case.rs2, case.immediates)
        builder.record(case.rd, f"{instruction} with rd={case.old:#x} rs1={case.a:#x} rs2={case.b:#x}")
    builder.record_all("after the last case")
    return builder


@pytest.mark.sample(50)
@pytest.mark.parametrize("name", FORM_BY_NAME)
def test_form_agrees_with_the_model(name: str) -> None:
    differences = list(build(FORM_BY_NAME[name]).differences())
    assert not differences, f"{name}: {len(differences)} results differ\n" + "\n".join(differences[:8])


@pytest.mark.parametrize("name", FORM_BY_NAME)
def test_operand_sets_reach_what_they_promise(name: str) -> None:
    form = FORM_BY_NAME[name]
    chosen = list(cases(form, random.Random(name), pointer=31))
    assert len(chosen) >= 100
    assert len({case.rd for case in chosen}) > 20 and len({case.rs1 for case in chosen}) > 20
    assert any(case.rd == case.rs1 != 0 for case in chosen) and any(case.rd == 0 for case in chosen)
    assert not form.layout.reads_rs2 or any(case.rd == case.rs2 != 0 for case in chosen)
    # Lane numbers stop at the last lane; every other immediate takes all its values.
    is_lane_number = name.startswith(("pv.extract", "pv.insert"))
    for position, count in enumerate(form.layout.immediate_ranges):
        values = 32 // lane_width(form) if is_lane_number else count
        assert {case.immediates[position] for case in chosen} == set(range(values))
