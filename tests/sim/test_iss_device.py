"""Device `iss`: archives in, outputs and cycles out, and what it refuses."""

import dataclasses

import numpy as np
import pytest

from tests.hal.siracusa.program import TOOLCHAINS, Program, Tensor
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.toolchain import RiscvToolchain, ToolchainError

# Two inputs of different types, two outputs, a matrix-vector product split over the cores.
MATVEC = """
int8_t matrix[16][32] TVM_PULP_IN_L2;
int16_t vector[32] TVM_PULP_IN_L2;
int32_t product[16] TVM_PULP_IN_L2;
uint8_t negative[16] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  for (uint32_t row = tvm_pulp_core_id(); row < 16; row += TVM_PULP_CORES) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < 32; i++) sum += matrix[row][i] * vector[i];
    product[row] = sum;
    negative[row] = sum < 0;
  }
}
"""
PROGRAM = Program(
    MATVEC,
    inputs=(Tensor("matrix", (16, 32), "int8"), Tensor("vector", (32,), "int16")),
    outputs=(Tensor("product", (16,), "int32"), Tensor("negative", (4, 4), "uint8")),
)


def make_inputs(seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.integers(-128, 128, (16, 32), np.int8), generator.integers(-3000, 3000, 32, np.int16)]


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_outputs_are_those_of_the_inputs(toolchain: RiscvToolchain) -> None:
    device = PROGRAM.device(toolchain=toolchain)
    for seed in (1, 2):
        matrix, vector = make_inputs(seed)
        run = device.run([matrix, vector])
        expected = matrix.astype(np.int32) @ vector
        np.testing.assert_array_equal(run.outputs[0], expected)
        np.testing.assert_array_equal(run.outputs[1], (expected < 0).reshape(4, 4))
        assert run.outputs[0].dtype == np.int32 and run.outputs[1].shape == (4, 4)
    assert run.counters.exit_code == 0 and run.counters.instructions > 1000
    assert 0 < run.cycles < run.cold_cycles < run.counters.cycles
    assert 100 < run.code_bytes < 4000
    assert run.build_seconds > 0 and run.run_seconds > 0


def test_more_cores_are_faster_and_agree() -> None:
    runs = {n: dataclasses.replace(PROGRAM, cores=n).run(*make_inputs(3)) for n in (1, 2, 8)}
    for run in runs.values():
        np.testing.assert_array_equal(run.outputs[0], runs[1].outputs[0])
    assert runs[1].cycles > 1.7 * runs[2].cycles > 1.7 * 3 * runs[8].cycles


def test_runs_repeat_to_the_cycle() -> None:
    first, second = PROGRAM.run(*make_inputs(4)), PROGRAM.run(*make_inputs(4))
    assert (first.cycles, first.cold_cycles) == (second.cycles, second.cold_cycles)
    assert first.counters.cores == second.counters.cores


def test_an_input_that_start_code_would_clear_is_refused() -> None:
    text = MATVEC.replace("int16_t vector[32] TVM_PULP_IN_L2;", "int16_t vector[32];")
    with pytest.raises(ValueError, match="'vector' is cleared at start: declare the input with TVM_PULP_IN_L2"):
        dataclasses.replace(PROGRAM, text=text).run(*make_inputs(5))


def test_inputs_of_another_shape_or_type_are_refused() -> None:
    matrix, vector = make_inputs(6)
    with pytest.raises(UserError, match=r"input 'matrix' is int8\[32, 16\]: the network takes int8\[16, 32\]"):
        PROGRAM.run(matrix.T, vector)
    with pytest.raises(UserError, match=r"input 'vector' is int32\[32\]: the network takes int16\[32\]"):
        PROGRAM.run(matrix, vector.astype(np.int32))


def test_more_cores_than_the_soc_has_are_refused() -> None:
    with pytest.raises(UserError, match="compiled for 9 cores, but SoC 'siracusa' has 8: recompile"):
        dataclasses.replace(PROGRAM, cores=9).device()


def test_an_archive_without_linker_script_is_refused() -> None:
    files = {name: data for name, data in PROGRAM.files().items() if not name.endswith(".ld")}
    with pytest.raises(UserError, match="holds 0 linker scripts instead of one"):
        IssDevice(files, PROGRAM.metadata())


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("TVM_PULP_REGISTER(0x10040000) = 1;", "nothing is mapped, address 0x10040000"),  # behind L1
        ("TVM_PULP_REGISTER(0x1C200000) = 1;", "nothing is mapped, address 0x1c200000"),  # behind L2
        ("(void)TVM_PULP_REGISTER(0x10C00000);", "nothing is mapped, address 0x10c00000"),  # behind the weight memory
        ('__asm__ volatile(".4byte 0xffffffff");', "illegal"),
    ],
)
def test_wild_programs_end_in_a_fault(statement: str, message: str) -> None:
    with pytest.raises(GuestFault, match=message):
        Program(f"void tvm_pulp_network(void) {{ {statement} }}").run()


def test_a_core_that_never_arrives_ends_in_a_fault() -> None:
    text = "void tvm_pulp_network(void) { if (tvm_pulp_core_id() != 3) tvm_pulp_barrier(); for (;;) {} }"
    with pytest.raises(GuestFault, match="cycle"):
        Program(text).run()


def test_no_result_depends_on_zeros_in_l1_or_in_outputs() -> None:
    text = """
    uint8_t first[4] TVM_PULP_IN_L2, untouched[4] TVM_PULP_IN_L2;
    static uint32_t inferences;
    void tvm_pulp_network(void) {
      if (tvm_pulp_core_id() == 0 && inferences++ == 0)
        for (uint32_t i = 0; i < 4; i++) first[i] = tvm_pulp_l1_arena[i];
    }
    """
    outputs = (Tensor("first", (4,), "uint8"), Tensor("untouched", (4,), "uint8"))
    run = Program(text, outputs=outputs).run()
    assert [output.tolist() for output in run.outputs] == [[0xA5] * 4, [0xA5] * 4]


def test_warnings_are_errors() -> None:
    with pytest.raises(ToolchainError, match="unused"):
        Program("void tvm_pulp_network(void) { int unused; }").device()
