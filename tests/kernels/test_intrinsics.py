"""Every intrinsic of xpulp.h: the instruction on the simulated core equals the plain-C model on the host."""

import numpy as np
import pytest

from tests.kernels.call import INTRINSICS, Call, Out, run_on_cluster, run_on_host
from tests.kernels.check import TOOLCHAINS
from tvm_pulp.toolchain import RiscvToolchain

ROWS = 200
RESULTS = INTRINSICS.read_text(encoding="utf-8").count("*y++ = tvm_pulp_xp_") + 4


def operands() -> np.ndarray:
    rng = np.random.default_rng(7)
    words = rng.integers(-(1 << 31), 1 << 31, (ROWS, 3)).astype(np.int32)
    corners = np.array([0, -1, 1, 127, -128, 0x7FFFFFFF, -(1 << 31), 0x01010101], np.int32)
    words[:64, 1:] = np.stack(np.meshgrid(corners, corners), -1).reshape(64, 2)
    return words


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_instructions_equal_their_models(toolchain: RiscvToolchain) -> None:
    fields = {"x": operands(), "y": Out((ROWS, RESULTS), "int32"), "table": None, "rows": ROWS, "row_bytes": 0}
    call = Call("intrinsics", {**fields, "x_stride": 0, "y_stride": 0, "table_stride": 0}, structure="copy_rows")
    models = run_on_host(call)
    # A model that returns its input for everything would not do.
    assert all(len(np.unique(models[:, i])) > 2 for i in range(RESULTS))
    np.testing.assert_array_equal(run_on_cluster(call, 1, toolchain=toolchain).output, models)
