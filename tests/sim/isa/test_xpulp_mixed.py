"""Long random mixtures of XpulpV2 forms, loads, stores and hardware loops leave the registers of the Python model.

Single-form tests cannot see a form that disturbs its neighbours (a stale operand, a loop end that swallows the next
instruction); mixtures on a shared register file can.
"""

import random

import pytest

from .image import L1_BASE
from .loop_builder import LoopBuilder
from .xpulp_form import everywhere
from .xpulp_memory import MEMORY_FORMS, Addressing
from .xpulp_operands import immediate_choices
from .xpulp_table import FORMS

WINDOW = L1_BASE + 0x2000
WINDOW_BYTES = 512
POINTER = 31
TOTAL_FORMS = [form for form in FORMS if form.domain is everywhere]


class MixedProgram:
    """A loop builder that adds random instructions; operands stay inside the domain of each form."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.builder = LoopBuilder(pointer=POINTER)
        self.labels = 0
        self.builder.data(WINDOW, self.pick.randbytes(WINDOW_BYTES))
        for register in range(1, 31):
            self.builder.constant(register, self.pick.getrandbits(32))

    def compute(self) -> None:
        """Any form that is defined for all values."""
        form = self.pick.choice(TOTAL_FORMS)
        immediates = tuple(self.pick.randrange(count) for count in form.layout.immediate_ranges)
        rd, rs1, rs2 = (self.pick.randrange(31) for _ in range(3))
        self.builder.form(form, rd, rs1, rs2, immediates)

    def compute_partial(self) -> None:
        """A form that is defined for some values, on operands set for it."""
        form = self.pick.choice([form for form in FORMS if form.domain is not everywhere])
        rd, rs1, rs2 = (self.pick.randrange(1, 31) for _ in range(3))
        immediates = self.pick.choice(immediate_choices(form))
        # Width 1 at position 5 and a positive bound at the same time
        self.builder.constant(rs2, 5)
        self.builder.form(form, rd, rs1, rs2, immediates)

    def memory(self, label: str | None = None) -> None:
        """Any load or store form inside the window; the label goes on the access itself."""
        form = self.pick.choice(MEMORY_FORMS)
        base, step_register = self.pick.sample(range(1, 31), 2)
        data = self.pick.randrange(31)
        step = self.pick.randrange(-64, 64)
        address = WINDOW + self.pick.randrange(64, WINDOW_BYTES - 64 - 4)
        self.builder.constant(step_register, step)
        self.builder.constant(base, address)
        if label is not None:
            self.builder.label(label)
        is_immediate = form.addressing is Addressing.POST_IMMEDIATE
        self.builder.memory(form, data, base, step if is_immediate else step_register)

    def several(self, most: int) -> None:
        """A few instructions of any kind but loops."""
        for _ in range(self.pick.randint(1, most)):
            self.pick.choices((self.compute, self.compute_partial, self.memory), (6, 1, 2))[0]()

    def loop(self) -> None:
        """One loop, or an outer one around an inner one and more code."""
        self.labels += 1
        name = str(self.labels)
        if self.pick.randrange(2):
            self.builder.constant(30, self.pick.randrange(5))
            self.builder.setup(1, 30, f"outer {name}")
            self.several(3)
            self.inner(name)
            self.several(3)
            self.last(f"outer {name}")
        else:
            self.inner(name)

    def inner(self, name: str) -> None:
        self.builder.counti(0, self.pick.randrange(5))
        self.builder.starti(0, f"start {name}")
        self.builder.endi(0, f"inner {name}")
        self.builder.label(f"start {name}")
        self.several(4)
        self.last(f"inner {name}")

    def last(self, label: str) -> None:
        """The end of a loop: a computation or an access."""
        if self.pick.randrange(3):
            self.builder.label(label)
            self.compute()
        else:
            self.memory(label)


def build(seed: int) -> LoopBuilder:
    program = MixedProgram(seed)
    for part in range(10):
        program.several(12)
        program.loop()
        program.builder.record_all(f"after part {part}")
    return program.builder


@pytest.mark.sample(15)
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= 100)) for seed in range(400)])
def test_mixture_agrees_with_the_model(seed: int) -> None:
    differences = list(build(seed).differences(windows=((WINDOW, WINDOW_BYTES),), core=seed % 8))
    assert not differences, "\n".join(differences[:8])


def test_mixtures_contain_every_form() -> None:
    texts = [pending.text for seed in range(100) for pending in build(seed).pending]
    seen = {text.split()[0] for text in texts}
    assert {form.name for form in FORMS} | {form.mnemonic for form in MEMORY_FORMS} <= seen
