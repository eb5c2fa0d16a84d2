"""The comparison that all kernel tests make: cluster, plain-C twin and the dialect's numpy reference agree."""

import shutil

import numpy as np

from tests.kernels.call import run_on_cluster, run_on_host
from tests.kernels.matrix_cases import Case
from tvm_pulp.toolchain import RiscvToolchain
from tvm_pulp.toolchain.riscv_compilers import DEFAULT_NAME

TOOLCHAINS: tuple[RiscvToolchain, ...] = ("zig", "gcc") if shutil.which(DEFAULT_NAME) else ("zig",)


def check(case: Case, cores: int, toolchain: RiscvToolchain = "zig") -> None:
    """Twin with the same number of cores, and XpulpV2 on the simulated cluster, both equal to the reference."""
    twin = run_on_host(case.call, cores)
    assert twin.dtype == case.expected.dtype
    np.testing.assert_array_equal(twin, case.expected, err_msg=f"plain C, {cores} cores: {case.call.kernel}")
    measured = run_on_cluster(case.call, cores, toolchain=toolchain)
    np.testing.assert_array_equal(
        measured.output, case.expected, err_msg=f"XpulpV2 by {toolchain}, {cores} cores: {case.call.kernel}"
    )
