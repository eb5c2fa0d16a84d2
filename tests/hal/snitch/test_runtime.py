"""The runtime of the Snitch cluster: start-up, barriers, DMA by its core, marks, stack guards, printing, exit."""

import re
import struct

import numpy as np
import pytest

from tests.hal.siracusa.program import TOOLCHAINS, Program, Tensor
from tvm_pulp import soc
from tvm_pulp.errors import GuestFault
from tvm_pulp.sim.iss import Machine
from tvm_pulp.toolchain import RiscvToolchain


def program(text: str, *, cores: int = 8, marks: int = 0, **tensors: tuple[Tensor, ...]) -> Program:
    return Program(text, cores=cores, march="rv32ima", soc="snitch-ita", marks=marks, **tensors)


# Between two barriers each core writes its own word, after a delay that differs by core and round; after the barrier
# each core adds up the words of all cores. A core that leaves too early misses a word of this round.
NEIGHBOURS = """
#define ROUNDS 12
static volatile uint32_t word[2][9] TVM_PULP_IN_L1;
uint32_t sums[9][ROUNDS] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  const uint32_t core = tvm_pulp_core_id();
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (volatile uint32_t i = 0; i < (core * 7 + round * 5) % 23; i++) {
    }
    word[round & 1][core] = 100 * round + core;
    tvm_pulp_barrier();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 9; i++) sum += word[round & 1][i];
    sums[core][round] = sum;
  }
}
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_every_core_sees_what_all_cores_wrote(toolchain: RiscvToolchain) -> None:
    run = program(NEIGHBOURS, outputs=(Tensor("sums", (9, 12), "uint32"),)).run(toolchain=toolchain)
    np.testing.assert_array_equal(run.outputs[0], np.tile(900 * np.arange(12) + 36, (9, 1)))


COPY = """
TVM_PULP_IN_L2 uint8_t x[4096];
TVM_PULP_IN_L2 uint8_t y[4096];
TVM_PULP_IN_L2 uint8_t z[4096];
static uint8_t *const tile = tvm_pulp_l1_arena;
void tvm_pulp_network(void) {
  if (tvm_pulp_is_agent()) {
    const uint32_t id = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(tile, x, 4096);
    tvm_pulp_dma_load_2d(tile + 4096, x + 5, 40 * 30, 40, 100);
    tvm_pulp_dma_wait(id);
  }
  tvm_pulp_barrier();
  const uint32_t core = tvm_pulp_core_id();
  if (core < TVM_PULP_CORES)
    for (uint32_t i = core; i < 4096u; i += TVM_PULP_CORES) tile[i] = (uint8_t)(tile[i] + 1u);
  tvm_pulp_barrier();
  if (tvm_pulp_is_agent()) {
    const uint32_t id = tvm_pulp_dma_begin();
    tvm_pulp_dma_store(y, tile, 4096);
    tvm_pulp_dma_store_2d(z + 3, tile + 4096, 40 * 30, 40, 64);
    tvm_pulp_dma_wait(id);
  }
}
"""


@pytest.mark.parametrize("cores", [1, 3, 8])
def test_the_dma_core_moves_and_the_others_work(cores: int) -> None:
    given = (Tensor("x", (4096,), "uint8"),)
    made = (Tensor("y", (4096,), "uint8"), Tensor("z", (4096,), "uint8"))
    x = np.random.default_rng(1).integers(0, 256, 4096, np.uint8)
    run = program(COPY, cores=cores, inputs=given, outputs=made).run(x)
    y, z = run.outputs
    np.testing.assert_array_equal(y, x + 1)
    for line in range(30):
        np.testing.assert_array_equal(z[3 + 64 * line : 43 + 64 * line], x[5 + 100 * line : 45 + 100 * line])
        assert (z[43 + 64 * line : 67 + 64 * line] == 0xA5).all()


LAYERS = """
uint32_t calls TVM_PULP_IN_L2;
static uint32_t count = 0;
static void spend(uint32_t rounds) { __asm__ volatile("1: addi %0, %0, -1\\n\\tbnez %0, 1b" : "+r"(rounds)); }
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() == 0u) calls = ++count;
  tvm_pulp_barrier();
  TVM_PULP_MARK(0);
  spend(100);
  TVM_PULP_MARK(1);
  if (tvm_pulp_core_id() == 0u) spend(1000);
  TVM_PULP_MARK(2);
}
"""


def test_variables_are_cleared_once_and_marks_are_kept() -> None:
    run = program(LAYERS, marks=3, outputs=(Tensor("calls", (1,), "uint32"),)).run()
    assert run.outputs[0].tolist() == [2]
    assert run.layer_cycles is not None
    # A round is one addition and one taken branch: two cycles.
    for cycles, rounds in zip(run.layer_cycles, (100, 1000), strict=True):
        assert 2 * rounds <= cycles <= 2 * rounds + 30
    assert run.cycles < run.cold_cycles


DEEP = """
__attribute__((noinline)) static void fill(volatile uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) words[i] = i;
}
void tvm_pulp_network(void) {
  uint32_t stack_pointer;
  if (tvm_pulp_core_id() != CORE) return;
  __asm__ volatile("mv %0, sp" : "=r"(stack_pointer));
  const uint32_t bytes = stack_pointer % TVM_PULP_STACK_BYTES - (LEFT);
  fill(__builtin_alloca(bytes), bytes / 4);
}
"""


@pytest.mark.parametrize("core", [0, 5, 8])
def test_stack_guards(core: int) -> None:
    program(DEEP.replace("CORE", f"{core}").replace("LEFT", "48")).run()
    with pytest.raises(GuestFault, match="stack overflowed"):
        program(DEEP.replace("CORE", f"{core}").replace("LEFT", "16")).run()


TALKS = """
TVM_PULP_IN_L2 uint8_t x[40];
const struct tvm_pulp_symbol tvm_pulp_symbols[] = {{"x", x, sizeof x}, {0, 0, 0}};
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() == 0u)
    for (int i = 0; i < 40; i++) x[i] = (uint8_t)(3 * i);
}
"""


@pytest.mark.parametrize("request_word", [0, 1, 2])
def test_symbols_are_printed_on_request(request_word: int) -> None:
    machine = Machine(soc.load("snitch-ita"))
    machine.load_elf(program(TALKS).device().elf)
    machine.write(machine.symbol("tvm_pulp_request"), struct.pack("<I", request_word))
    output = machine.run(max_cycles=1_000_000).stdout
    if request_word == 0:
        assert output == ""
        return
    assert output.endswith("end\n")
    if request_word == 1:
        found = re.search(r"^symbol x ([0-9a-f]{8}) 00000028$", output, re.MULTILINE)
        assert found and int(found[1], 16) == machine.symbol("x")
    else:
        data = re.findall(r"^data x [0-9a-f]{8} ([0-9a-f]+)$", output, re.MULTILINE)
        assert bytes.fromhex("".join(data)) == bytes(3 * i % 256 for i in range(40))
