"""Stack guards: deep stacks pass, overflows of any core are reported."""

import pytest

from tvm_pulp.errors import GuestFault
from tvm_pulp.toolchain import RiscvToolchain

from .program import TOOLCHAINS, Program, Tensor

# One core takes all of its stack but LEFT bytes and writes every word of it; stacks are 2048 bytes and aligned.
DEEP = """
uint32_t taken TVM_PULP_IN_L2;
__attribute__((noinline)) static void fill(volatile uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) words[i] = i;
}
void tvm_pulp_network(void) {
  uint32_t stack_pointer;
  if (tvm_pulp_core_id() != CORE) return;
  __asm__ volatile("mv %0, sp" : "=r"(stack_pointer));
  const uint32_t bytes = stack_pointer % TVM_PULP_STACK_BYTES - (LEFT);
  fill(__builtin_alloca(bytes), bytes / 4);
  taken = bytes;
}
"""


def run(core: int, left: int, toolchain: RiscvToolchain = "zig") -> int:
    text = DEEP.replace("LEFT", str(left)).replace("CORE", str(core))
    return int(Program(text, outputs=(Tensor("taken", (1,), "uint32"),)).run(toolchain=toolchain).outputs[0][0])


@pytest.mark.parametrize("core", range(8))
def test_a_stack_may_be_filled_down_to_its_guard(core: int) -> None:
    # 32 bytes of guard and a frame for `fill`. The rest minus the frames above: a network has this much at least.
    assert 1800 <= run(core, 32 + 16) < 2000


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize("core", range(8))
def test_an_overflow_into_the_guard_ends_the_run_with_code_3(core: int, toolchain: RiscvToolchain) -> None:
    with pytest.raises(GuestFault, match="exit code 3: a core's stack overflowed into its guard"):
        run(core, 16, toolchain)


def test_the_lowest_stack_overflows_into_unmapped_addresses() -> None:
    with pytest.raises(GuestFault, match="nothing is mapped"):
        run(0, -64)
