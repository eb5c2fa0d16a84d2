"""Barriers: nobody leaves before everybody has arrived, and other events do not open them."""

import numpy as np
import pytest

from tvm_pulp.toolchain import RiscvToolchain

from .program import TOOLCHAINS, Program, Tensor

# Between two barriers each core writes its own word, after a delay that differs by core and round; after the barrier
# each core adds up the words of all cores. A core that leaves too early misses a word of this round.
NEIGHBOURS = """
#define ROUNDS 12
static volatile uint32_t word[2][TVM_PULP_CORES] TVM_PULP_IN_L1;
uint32_t sums[8][ROUNDS] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  const uint32_t core = tvm_pulp_core_id();
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (volatile uint32_t i = 0; i < (core * 7 + round * 5) % 23; i++) {
    }
    word[round & 1][core] = 100 * round + core;
    tvm_pulp_barrier();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < TVM_PULP_CORES; i++) sum += word[round & 1][i];
    sums[core][round] = sum;
  }
}
"""


@pytest.mark.parametrize("cores", range(1, 9))
def test_every_core_sees_what_all_cores_wrote(cores: int) -> None:
    run = Program(NEIGHBOURS, outputs=(Tensor("sums", (8, 12), "uint32"),), cores=cores).run()
    # Only the cores that take part write their row; the rest stays as the device left it.
    expected = np.full((8, 12), 0xA5A5A5A5, np.uint32)
    expected[:cores] = 100 * cores * np.arange(12) + cores * (cores - 1) // 2
    np.testing.assert_array_equal(run.outputs[0], expected)
    # Cores beyond the team never start.
    assert [counters["instructions"] > 0 for counters in run.counters.cores[:8]] == [core < cores for core in range(8)]


TIMED = """
uint32_t spent[9] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  tvm_pulp_barrier();
  const uint32_t a = tvm_pulp_cycle();
  tvm_pulp_barrier(); tvm_pulp_barrier(); tvm_pulp_barrier(); tvm_pulp_barrier();
  tvm_pulp_barrier(); tvm_pulp_barrier(); tvm_pulp_barrier(); tvm_pulp_barrier();
  spent[tvm_pulp_core_id()] = tvm_pulp_cycle() - a;
}
"""


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_eight_barriers_take_the_time_measured_on_the_platform(toolchain: RiscvToolchain) -> None:
    run = Program(TIMED, outputs=(Tensor("spent", (8,), "uint32"),)).run(toolchain=toolchain)
    # 41 cycles with the counter reads. Code that crosses lines of the private cache may cost its 2 cycles per line.
    assert np.all((run.outputs[0] >= 41) & (run.outputs[0] <= 47)), run.outputs[0]


# Core 0 starts a transfer whose completion event arrives while it sleeps in the barrier, long before core 1 comes.
PENDING_EVENT = """
uint8_t data[4096] TVM_PULP_IN_L2;
uint32_t seen TVM_PULP_IN_L2;
static volatile uint32_t arrived TVM_PULP_IN_L1;
void tvm_pulp_network(void) {
  const uint32_t core = tvm_pulp_core_id();
  uint32_t id = 0;
  if (core == 0) {
    arrived = 0;
    id = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(tvm_pulp_l1_arena, data, sizeof data);
  }
  tvm_pulp_barrier();
  if (core == 1) {
    for (volatile uint32_t i = 0; i < 300; i++) {
    }
    arrived = 1;
  }
  tvm_pulp_barrier();
  if (core == 0) {
    seen = arrived;
    tvm_pulp_dma_wait(id);
  }
}
"""


def test_an_event_of_the_dma_does_not_open_a_barrier() -> None:
    run = Program(PENDING_EVENT, outputs=(Tensor("seen", (1,), "uint32"),)).run()
    assert run.outputs[0].tolist() == [1]


# The loser of the race between the two waits must still get its event: core 0 raises software event 3 on core 1.
SOFTWARE_EVENT = """
uint32_t order[2] TVM_PULP_IN_L2;
static volatile uint32_t ready TVM_PULP_IN_L1;
void tvm_pulp_network(void) {
  const uint32_t core = tvm_pulp_core_id();
  if (core == 0) ready = 0;
  tvm_pulp_barrier();
  if (core == 0) {
    for (volatile uint32_t i = 0; i < DELAY; i++) {
    }
    ready = 1;
    TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + 0x100 + 4 * 3) = 1 << 1;
  }
  if (core == 1) {
    for (volatile uint32_t i = 0; i < 50; i++) {
    }
    while (ready == 0) tvm_pulp_event_wait(3);
    order[0] = ready;
    order[1] = TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_EVENT_MASK);
  }
}
"""


@pytest.mark.parametrize("delay", [0, 200])
def test_event_wait_returns_for_earlier_and_later_events(delay: int) -> None:
    text = SOFTWARE_EVENT.replace("DELAY", str(delay))
    run = Program(text, outputs=(Tensor("order", (2,), "uint32"),)).run()
    # The mask is back to the barrier alone.
    assert run.outputs[0].tolist() == [1, 1 << 16]
