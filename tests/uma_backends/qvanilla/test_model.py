"""The model of QVanilla through its registers: what it computes, when, and what it refuses."""

import numpy as np
import pytest

from tests.hal.siracusa.program import Program, Tensor
from tvm_pulp.errors import GuestFault
from tvm_pulp.qnn.conv2d import Conv2d

HEIGHT, WIDTH, CHANNELS, OUTPUTS, KERNEL = 5, 4, 3, 2, 3
GUEST = """
TVM_PULP_IN_L2 int8_t x[60];
TVM_PULP_IN_L2 int8_t w[54];
TVM_PULP_IN_L2 int32_t b[2];
TVM_PULP_IN_L2 int32_t y[40];
TVM_PULP_IN_L2 uint32_t polls;
#define R(offset) TVM_PULP_REGISTER(BASE + (offset))
#define AT(offset) ((uint32_t)(uintptr_t)tvm_pulp_l1_arena + (offset))
void tvm_pulp_network(void) {
  tvm_pulp_dma_load(tvm_pulp_l1_arena, x, sizeof x);
  tvm_pulp_dma_load(tvm_pulp_l1_arena + 64, w, sizeof w);
  tvm_pulp_dma_load(tvm_pulp_l1_arena + 128, b, sizeof b);
  const uint32_t value[12] = {AT(0), AT(64), AT(128), AT(256), 2, 4, 5, 3, 3, 3, 7, 0};
  for (uint32_t i = 0; i < 12; i++) R(4 * i) = value[i];
  MORE
  R(0x30) = 1;
  polls = 0;
  while (R(0x34)) polls++;
  tvm_pulp_dma_store(y, tvm_pulp_l1_arena + 256, sizeof y);
}
"""


def program(base: int, more: str = "") -> Program:
    inputs = (Tensor("x", (CHANNELS, HEIGHT, WIDTH), "int8"), Tensor("w", (OUTPUTS, CHANNELS, KERNEL, KERNEL), "int8"))
    outputs = (Tensor("y", (1, OUTPUTS, HEIGHT, WIDTH), "int32"), Tensor("polls", (1,), "uint32"))
    text = GUEST.replace("BASE", f"{base:#x}").replace("MORE", more)
    return Program(text, (*inputs, Tensor("b", (OUTPUTS,), "int32")), outputs, cores=1, soc="rv32-mcu")


def operands() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = ((CHANNELS, HEIGHT, WIDTH), (OUTPUTS, CHANNELS, KERNEL, KERNEL))
    x, w = (rng.integers(-128, 128, size).astype(np.int8) for size in sizes)
    return [x, w, rng.integers(-1000, 1000, OUTPUTS).astype(np.int32)]


@pytest.mark.parametrize(
    ("base", "more", "cycles_per_mac"),
    [(0x70000000, "", 0), (0x70002000, "", 2), (0x70002000, "R(0x38) = 5;", 5), (0x70002000, "R(0x38) = 0;", 0)],
)
def test_both_variants_compute_and_one_takes_time(base: int, more: str, cycles_per_mac: int) -> None:
    x, w, b = operands()
    y, polls = program(base, more).run(x, w, b).outputs
    attributes = {"layout": "NCHW", "strides": [1, 1], "dilation": [1, 1], "pads": [1] * 4, "groups": 1}
    attributes |= {"zero_point": 7, "has_bias": 1, "requant": "none"}
    # The reference adds the bias along the last axis, where channels are.
    np.testing.assert_array_equal(y, Conv2d().reference(Conv2d().stated(attributes), [x[None], w, b]))
    macs = y.size * CHANNELS * KERNEL * KERNEL
    # A poll is a few instructions.
    assert cycles_per_mac * macs / 6 <= polls[0] <= cycles_per_mac * macs / 2


@pytest.mark.parametrize(
    "more",
    [
        "R(0x20) = 2; R(0x24) = 2;",  # an even kernel
        "R(0x24) = 5;",  # not square
        "R(0x20) = 33; R(0x24) = 33;",  # a job for hours
        "R(0x00) = 0x30000000;",  # no memory there
        "R(0x08) = AT(129);",  # words that are not aligned
        "R(0x10) = 0;",  # nothing to compute
        "R(0x14) = 0x10000; R(0x18) = 0x10000; R(0x1c) = 0x10000;",  # more than there are addresses
        "R(0x30) = 1; R(0x30) = 1;",  # while it runs
    ],
)
def test_what_it_cannot_do_is_a_fault(more: str) -> None:
    with pytest.raises(
        GuestFault, match="qvanilla: it runs, its kernel is not square, odd and at most 31, or an operand"
    ):
        program(0x70002000, more).run(*operands())


def test_there_are_no_other_registers() -> None:
    with pytest.raises(GuestFault, match="qvanilla: there is no such register"):
        program(0x70000000, "R(0x38) = 1;").run(*operands())
