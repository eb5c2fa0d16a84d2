"""The build with floating-point instructions: cluster cores have them, the controller has not."""

import numpy as np
import pytest

from tvm_pulp.toolchain import RiscvToolchain

from .program import TOOLCHAINS, Program, Tensor

AXPY = """
float x[64] TVM_PULP_IN_L2, y[64] TVM_PULP_IN_L2, z[64] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  for (uint32_t i = tvm_pulp_core_id(); i < 64; i += TVM_PULP_CORES) z[i] = x[i] * 1.25f / y[i] + x[i];
}
"""


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize("march", ["rv32imc", "rv32imfc"])
def test_float_arithmetic_on_all_cores(march: str, toolchain: RiscvToolchain) -> None:
    generator = np.random.default_rng(5)
    x, y = generator.normal(size=64).astype(np.float32), generator.normal(size=64).astype(np.float32)
    tensors = {name: Tensor(name, (64,), "float32") for name in "xyz"}
    program = Program(AXPY, (tensors["x"], tensors["y"]), (tensors["z"],), march=march)
    run = program.run(x, y, toolchain=toolchain)
    expected = x * np.float32(1.25) / y + x
    np.testing.assert_array_equal(run.outputs[0].view(np.uint32), expected.view(np.uint32))
    # Soft float needs far more instructions; the hardware build must not.
    assert (run.counters.cores[0]["instructions"] < 1000) == (march == "rv32imfc")
