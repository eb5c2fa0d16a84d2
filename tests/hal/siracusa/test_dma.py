"""Transfers between L1 and L2 or weight memory, compared with numpy."""

import numpy as np
import pytest

from tvm_pulp.toolchain import RiscvToolchain

from .program import TOOLCHAINS, Program, Tensor

LARGEST = 0x1FF00


def random_bytes(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


ROUND_TRIP = """
uint8_t source[BYTES + 8] TVM_PULP_IN_L2;
uint8_t target[BYTES + 8] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() == 0) {
    volatile uint32_t bytes = BYTES; /* unknown to the compiler: no loop is folded away */
    for (uint32_t i = 0; i < BYTES + 8; i++) target[i] = 0x11;
    uint32_t id = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(tvm_pulp_l1_arena + 3, source + 1, bytes);
    tvm_pulp_dma_wait(id);
    id = tvm_pulp_dma_begin();
    tvm_pulp_dma_store(target + 5, tvm_pulp_l1_arena + 3, bytes);
    tvm_pulp_dma_wait(id);
  }
}
"""


@pytest.mark.parametrize("count", [1, 2, 63, 64, 257, 4096])
def test_one_dimension_out_and_back(count: int) -> None:
    data = random_bytes(count + 8)
    tensor = (Tensor("source", (count + 8,), "uint8"),), (Tensor("target", (count + 8,), "uint8"),)
    run = Program(ROUND_TRIP.replace("BYTES", str(count)), *tensor).run(data)
    expected = np.full(count + 8, 0x11, np.uint8)
    expected[5 : 5 + count] = data[1 : 1 + count]
    np.testing.assert_array_equal(run.outputs[0], expected)


# Larger than one command can say: source and target too large for the loop above, and nothing around them.
LONG = """
uint8_t source[BYTES] TVM_PULP_IN_L2;
uint8_t target[BYTES] TVM_PULP_IN_L2;
static void round_trip(uint32_t bytes) {
  uint32_t id = tvm_pulp_dma_begin();
  tvm_pulp_dma_load(tvm_pulp_l1_arena, source, bytes);
  tvm_pulp_dma_wait(id);
  id = tvm_pulp_dma_begin();
  tvm_pulp_dma_store(target, tvm_pulp_l1_arena, bytes);
  tvm_pulp_dma_wait(id);
}
void tvm_pulp_network(void) {
  volatile uint32_t bytes = BYTES;
  if (tvm_pulp_core_id() == 0) round_trip(CONSTANT ? BYTES : bytes);
}
"""


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize("constant", [0, 1])
@pytest.mark.parametrize("count", [LARGEST, LARGEST + 1, 131071, 131072, 200_001])
def test_long_transfers_are_split(count: int, constant: int, toolchain: RiscvToolchain) -> None:
    data = random_bytes(count)
    text = LONG.replace("BYTES", str(count)).replace("CONSTANT", str(constant))
    program = Program(text, (Tensor("source", (count,), "uint8"),), (Tensor("target", (count,), "uint8"),))
    run = program.run(data, toolchain=toolchain)
    np.testing.assert_array_equal(run.outputs[0], data)
    commands = 1 if count <= LARGEST else 2
    assert run.counters.dma["transfers"] == 2 * 2 * commands
    # 8 bytes per cycle in each direction, and one more cycle per burst of 256 bytes on the way out.
    assert 2 * count / 8 <= run.cycles <= 2 * count / 8 + count / 256 + 150


TWO_D = """
uint8_t source[SIZE] TVM_PULP_IN_L2;
uint8_t target[SIZE] TVM_PULP_IN_L2;
uint8_t dense[BYTES] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() != 0) return;
  uint32_t id = tvm_pulp_dma_begin();
  tvm_pulp_dma_load(tvm_pulp_l1_arena, source, 16);
  tvm_pulp_dma_wait(id);
  id = tvm_pulp_dma_begin();
  tvm_pulp_dma_load_2d(tvm_pulp_l1_arena, source, BYTES, LINE, STRIDE);
  tvm_pulp_dma_wait(id);
  id = tvm_pulp_dma_begin();
  tvm_pulp_dma_store_2d(target, tvm_pulp_l1_arena, BYTES, LINE, STRIDE);
  tvm_pulp_dma_store(dense, tvm_pulp_l1_arena, BYTES);
  tvm_pulp_dma_wait(id);
}
"""


@pytest.mark.parametrize(
    ("lines", "line", "stride"),
    [
        (1, 16, 16),
        (7, 1, 3),
        (5, 33, 40),
        (64, 64, 64),
        (3, 300, 512),
        # Above one command's limit: whole lines at a time, a last part, a line as long as the limit, one above it.
        (200, 1000, 1001),
        (2047, 65, 70),
        (2, LARGEST // 2 + 1, LARGEST),
        (1, LARGEST, LARGEST + 4),
        (1, LARGEST + 300, LARGEST + 301),
    ],
)
def test_two_dimensions_out_and_back(lines: int, line: int, stride: int) -> None:
    size, count = (lines - 1) * stride + line, lines * line
    data = random_bytes(size)
    text = TWO_D.replace("SIZE", str(size)).replace("BYTES", str(count))
    text = text.replace("LINE", str(line)).replace("STRIDE", str(stride))
    outputs = (Tensor("dense", (lines, line), "uint8"), Tensor("target", (size,), "uint8"))
    run = Program(text, (Tensor("source", (size,), "uint8"),), outputs).run(data)
    rows = np.lib.stride_tricks.as_strided(data, (lines, line), (stride, 1))
    np.testing.assert_array_equal(run.outputs[0], rows)
    # Bytes between the lines keep what they had: the device fills outputs with 0xa5.
    expected = np.full(size, 0xA5, np.uint8)
    np.lib.stride_tricks.as_strided(expected, (lines, line), (stride, 1))[:] = rows
    np.testing.assert_array_equal(run.outputs[1], expected)


# Transfers of two counters in flight; each wait answers for its own counter. More begins than there are counters.
TWO_COUNTERS = """
uint8_t source[8192] TVM_PULP_IN_L2;
uint8_t target[8192] TVM_PULP_IN_L2;
uint32_t status[2] TVM_PULP_IN_L2;
static const uint8_t constants[64] TVM_PULP_IN_WEIGHT_SRAM = {WORDS};
static const uint8_t slow_constants[64] TVM_PULP_IN_WEIGHT_MRAM = {WORDS};
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() != 0) return;
  for (uint32_t i = 0; i < 20; i++) {
    const uint32_t first = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(tvm_pulp_l1_arena, source, 4096);
    tvm_pulp_dma_load(tvm_pulp_l1_arena + 8192, constants, 64);
    const uint32_t second = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(tvm_pulp_l1_arena + 4096, source + 4096, 4096 - 128);
    tvm_pulp_dma_load(tvm_pulp_l1_arena + 8192 - 128, slow_constants, 64);
    tvm_pulp_dma_wait(first);
    status[0] = TVM_PULP_REGISTER(SIRACUSA_DMA_STATUS);
    tvm_pulp_dma_load(tvm_pulp_l1_arena + 8192 - 64, constants, 64); /* belongs to `second` */
    tvm_pulp_dma_wait(second);
    status[1] = TVM_PULP_REGISTER(SIRACUSA_DMA_STATUS);
  }
  const uint32_t id = tvm_pulp_dma_begin();
  tvm_pulp_dma_store(target, tvm_pulp_l1_arena, 8192);
  tvm_pulp_dma_wait(id);
}
"""


def test_counters_are_independent_and_given_back() -> None:
    data, words = random_bytes(8192), random_bytes(64, seed=2)
    text = TWO_COUNTERS.replace("WORDS", ", ".join(map(str, words)))
    outputs = (Tensor("target", (8192,), "uint8"), Tensor("status", (2,), "uint32"))
    run = Program(text, (Tensor("source", (8192,), "uint8"),), outputs).run(data)
    np.testing.assert_array_equal(run.outputs[0], np.concatenate([data[:8064], words, words]))
    # After the first wait only the second counter is allocated and busy; after the second wait none is.
    assert run.outputs[1].tolist() == [1 << 17 | 1 << 1, 0]


# The first transfer is over before its wait, which then leaves the event pending for the second wait to find.
STALE_EVENT = """
uint8_t source[4096] TVM_PULP_IN_L2;
uint8_t last[2] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() != 0) return;
  volatile uint8_t *const l1 = tvm_pulp_l1_arena;
  uint32_t id = tvm_pulp_dma_begin();
  tvm_pulp_dma_load(tvm_pulp_l1_arena, source, 64);
  while (TVM_PULP_REGISTER(SIRACUSA_DMA_STATUS) & 1u << id) {
  }
  tvm_pulp_dma_wait(id);
  last[0] = l1[63];
  l1[4095] = 0;
  id = tvm_pulp_dma_begin();
  tvm_pulp_dma_load(tvm_pulp_l1_arena, source, 4096);
  tvm_pulp_dma_wait(id);
  last[1] = l1[4095];
}
"""


def test_an_old_event_does_not_end_a_wait() -> None:
    data = random_bytes(4096)
    program = Program(STALE_EVENT, (Tensor("source", (4096,), "uint8"),), (Tensor("last", (2,), "uint8"),))
    assert data[4095] != 0
    assert program.run(data).outputs[0].tolist() == [data[63], data[4095]]


LATENCY = """
uint8_t source[4096] TVM_PULP_IN_L2;
uint32_t spent TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() != 0) return;
  uint32_t cycles = 0;
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t start = tvm_pulp_cycle();
    const uint32_t id = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(tvm_pulp_l1_arena, source, 4096);
    tvm_pulp_dma_wait(id);
    cycles = tvm_pulp_cycle() - start;
  }
  spent = cycles;
}
"""


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_the_wait_costs_what_the_platform_was_measured_with(toolchain: RiscvToolchain) -> None:
    run = Program(LATENCY, outputs=(Tensor("spent", (1,), "uint32"),)).run(toolchain=toolchain)
    # 528 cycles with the shortest wait loop; opening and closing the event mask, and constants, come on top.
    assert 528 <= run.outputs[0][0] <= 545
