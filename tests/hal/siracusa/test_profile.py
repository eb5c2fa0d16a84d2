"""Marks and the timing of inferences."""

import pytest

from tvm_pulp.errors import GuestFault
from tvm_pulp.toolchain import RiscvToolchain

from .program import TOOLCHAINS, Program, Tensor

LAYERS = """
uint32_t calls TVM_PULP_IN_L2;
static uint32_t count = 0;
static void spend(uint32_t rounds) { __asm__ volatile("1: addi %0, %0, -1\\n\\tbnez %0, 1b" : "+r"(rounds)); }
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() == 0) calls = ++count;
  tvm_pulp_barrier();
  TVM_PULP_MARK(0);
  spend(100);
  TVM_PULP_MARK(1);
  if (tvm_pulp_core_id() == 0) spend(1000);
  TVM_PULP_MARK(2);
  spend(10);
  TVM_PULP_MARK(3);
}
"""


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_layers_take_the_cycles_between_their_marks(toolchain: RiscvToolchain) -> None:
    run = Program(LAYERS, outputs=(Tensor("calls", (1,), "uint32"),), marks=4).run(toolchain=toolchain)
    assert run.outputs[0].tolist() == [2]
    assert run.layer_cycles is not None
    # A round is one addition and one taken branch: 4 cycles. The mark itself and line changes add a few.
    for cycles, rounds in zip(run.layer_cycles, (100, 1000, 10), strict=True):
        assert 4 * rounds - 2 <= cycles <= 4 * rounds + 16
    assert sum(run.layer_cycles) < run.cycles < run.cold_cycles
    # Everything the first inference fetched at 18 cycles a line is still in the caches.
    assert run.cycles < sum(run.layer_cycles) + 80


def test_without_profiling_marks_cost_nothing() -> None:
    program = Program(LAYERS, outputs=(Tensor("calls", (1,), "uint32"),), marks=4)
    plain = Program(LAYERS.replace("TVM_PULP_MARK(", "(void)("), outputs=program.outputs, marks=4)
    run = program.run(profile=False)
    assert run.layer_cycles is None
    assert (run.cycles, run.code_bytes) == (plain.run(profile=False).cycles, plain.run(profile=False).code_bytes)


SLOW_CORE = """
void tvm_pulp_network(void) {
  uint32_t rounds = tvm_pulp_core_id() == 5 ? 5000 : 1;
  __asm__ volatile("1: addi %0, %0, -1\\n\\tbnez %0, 1b" : "+r"(rounds));
}
"""


def test_an_inference_ends_with_its_last_core() -> None:
    run = Program(SLOW_CORE).run()
    assert 20_000 <= run.cycles <= 20_050
    assert run.layer_cycles == []


def test_marks_may_fill_their_room_and_no_more() -> None:
    text = "void tvm_pulp_network(void) {\n  for (uint32_t i = 0; i < tvm_pulp_mark_count; i++) TVM_PULP_MARK(i);\n}"
    layers = Program(text, marks=256).run().layer_cycles
    assert layers is not None and len(layers) == 255 and min(layers) > 0
    with pytest.raises(GuestFault, match="exit code 4: the program sets more marks than there is room for"):
        Program(text, marks=257).run()
    layers = Program(text, marks=300, defines=("TVM_PULP_MARKS=300",)).run().layer_cycles
    assert layers is not None and len(layers) == 299
