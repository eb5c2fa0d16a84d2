"""The runtime of the microcontroller: start-up, copies, marks, the stack guard, semihosting."""

import re
import struct

import numpy as np
import pytest

from tests.hal.siracusa.program import TOOLCHAINS, Program, Tensor
from tvm_pulp import soc
from tvm_pulp.errors import GuestFault
from tvm_pulp.sim.iss import Machine
from tvm_pulp.toolchain import RiscvToolchain


def program(text: str, *, marks: int = 0, on: str = "rv32-mcu", **tensors: tuple[Tensor, ...]) -> Program:
    return Program(text, cores=1, soc=on, marks=marks, **tensors)


COPY = """
TVM_PULP_IN_L2 uint8_t x[4096];
TVM_PULP_IN_L2 uint8_t y[4096];
TVM_PULP_IN_L2 uint8_t z[4096];
static uint8_t *const tile = tvm_pulp_l1_arena;
void tvm_pulp_network(void) {
  const uint32_t id = tvm_pulp_dma_begin();
  tvm_pulp_dma_load(tile, x, 4093);
  tvm_pulp_dma_load_2d(tile + 4096, x + 5, 40 * 30, 40, 100);
  tvm_pulp_dma_wait(id);
  for (uint32_t i = 0; i < 4093u; i++) tile[i] = (uint8_t)(tile[i] + 1u);
  tvm_pulp_dma_store(y, tile, 4093);
  tvm_pulp_dma_store_2d(z + 3, tile + 4096, 40 * 30, 40, 64);
}
"""


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_copies_move_these_bytes_and_no_others(toolchain: RiscvToolchain) -> None:
    given = (Tensor("x", (4096,), "uint8"),)
    made = (Tensor("y", (4096,), "uint8"), Tensor("z", (4096,), "uint8"))
    x = np.random.default_rng(1).integers(0, 256, 4096, np.uint8)
    y, z = program(COPY, inputs=given, outputs=made).run(x, toolchain=toolchain).outputs
    np.testing.assert_array_equal(y[:4093], x[:4093] + 1)
    assert (y[4093:] == 0xA5).all()
    for line in range(30):
        np.testing.assert_array_equal(z[3 + 64 * line : 43 + 64 * line], x[5 + 100 * line : 45 + 100 * line])
        assert (z[43 + 64 * line : 67 + 64 * line] == 0xA5).all()


LAYERS = """
uint32_t calls TVM_PULP_IN_L2;
static uint32_t count = 0;
static void spend(uint32_t rounds) {
  uint32_t value = 7;
  __asm__ volatile("1: mulh %1, %1, %0\\n\\tdivu %1, %1, %0\\n\\taddi %0, %0, -1\\n\\tbnez %0, 1b"
                   : "+r"(rounds), "+r"(value));
}
void tvm_pulp_network(void) {
  calls = ++count;
  TVM_PULP_MARK(0);
  spend(100);
  TVM_PULP_MARK(1);
  spend(1000);
  TVM_PULP_MARK(2);
}
"""


def test_an_instruction_is_a_cycle() -> None:
    # Variables are cleared once, at the start.
    run = program(LAYERS, marks=3, outputs=(Tensor("calls", (1,), "uint32"),)).run()
    assert run.outputs[0].tolist() == [2]
    # A round is four instructions, whatever they are.
    assert run.layer_cycles is not None
    for cycles, rounds in zip(run.layer_cycles, (100, 1000), strict=True):
        assert 4 * rounds <= cycles <= 4 * rounds + 10
    assert run.cycles == run.cold_cycles
    assert run.counters.cores[0]["instructions"] == run.counters.cores[0]["cycles"]
    assert run.counters.cycles == pytest.approx(run.counters.cores[0]["cycles"], abs=2)
    assert [core["name"] for core in run.counters.report()["cores"]] == ["core 0"]


def test_a_pipeline_stalls() -> None:
    run = program(LAYERS, on="rv32-mcu-pipeline", marks=3, outputs=(Tensor("calls", (1,), "uint32"),)).run()
    assert run.layer_cycles is not None
    # The same round: a high product of 5 cycles, a division of 4 at least, an addition, a branch of 3.
    assert run.layer_cycles[1] >= 13 * 1000
    assert run.counters.cores[0]["instructions"] < run.counters.cores[0]["cycles"]


DEEP = """
__attribute__((noinline)) static void fill(volatile uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) words[i] = i;
}
void tvm_pulp_network(void) {
  uint32_t stack_pointer;
  __asm__ volatile("mv %0, sp" : "=r"(stack_pointer));
  const uint32_t bytes = stack_pointer % TVM_PULP_STACK_BYTES - (LEFT);
  fill(__builtin_alloca(bytes), bytes / 4);
}
"""


def test_the_stack_guard() -> None:
    program(DEEP.replace("LEFT", "48")).run()
    with pytest.raises(GuestFault, match="stack overflowed"):
        program(DEEP.replace("LEFT", "16")).run()


TALKS = """
TVM_PULP_IN_L2 uint8_t x[40];
const struct tvm_pulp_symbol tvm_pulp_symbols[] = {{"x", x, sizeof x}, {0, 0, 0}};
void tvm_pulp_network(void) {
  for (int i = 0; i < 40; i++) x[i] = (uint8_t)(3 * i);
}
"""


@pytest.mark.parametrize("request_word", [0, 1, 2])
def test_symbols_are_printed_on_request(request_word: int) -> None:
    machine = Machine(soc.load("rv32-mcu"))
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


ASKS = """
uint32_t tvm_pulp_semihosting(uint32_t operation, uint32_t argument);
void tvm_pulp_network(void) { tvm_pulp_semihosting(OPERATION, ARGUMENT); }
"""


@pytest.mark.parametrize(
    ("operation", "argument", "reason"),
    [(0x12, 0, "operation 0x12 is not simulated"), (4, 0x100, "no memory"), (0x20, 0x100, "no memory")],
)
def test_what_the_host_cannot_do_is_said(operation: int, argument: int, reason: str) -> None:
    with pytest.raises(GuestFault, match=reason):
        program(ASKS.replace("OPERATION", f"{operation}").replace("ARGUMENT", f"{argument}u")).run()


def test_an_exit_for_another_reason_is_a_failure() -> None:
    with pytest.raises(GuestFault, match="exit code 1"):
        program(ASKS.replace("OPERATION", "0x18").replace("ARGUMENT", "0x20024")).run()


@pytest.mark.parametrize("address", [0, 0x100000, 0x10000000, 0x02100000, 0x02200000, 0x1A104000, 0x70004000])
def test_nothing_of_a_cluster_is_mapped(address: int) -> None:
    with pytest.raises(GuestFault, match="nothing is mapped"):
        program(f"void tvm_pulp_network(void) {{ TVM_PULP_REGISTER({address:#x}) = 1; }}").run()
