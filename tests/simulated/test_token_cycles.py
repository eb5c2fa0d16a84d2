"""What a token of a golden decoder may take, with caches as inputs and outputs and with caches as state."""

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, DATA, read_arrays

FOLDER = DATA / "deeploy" / "Models" / "microLlama" / "INT8" / "microLlama64"


@pytest.mark.slow
@pytest.mark.parametrize(("state", "most"), [(False, 110_000), (True, 112_500)])
def test_a_token_behind_64_others(state: bool, most: int) -> None:
    if not FOLDER.exists():
        pytest.skip(f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder")
    inputs = read_arrays(FOLDER / "inputs.npz")
    app = tvm_pulp.compile(FOLDER / "network.onnx", state=state, sample_inputs=inputs, **CONFIGURATIONS["neureka-sram"])
    given = {}
    for place, (spec, (_, array)) in enumerate(zip(app.metadata["tvm_pulp"]["inputs"], inputs, strict=True)):
        # Caches as state have positions before heads.
        shown = np.ascontiguousarray(array.transpose(0, 2, 1, 3)) if state and place > 2 else array
        given[spec["name"]] = shown.astype(spec["dtype"])
    result = app.run(given)
    np.testing.assert_array_equal(next(iter(result.outputs.values())), read_arrays(FOLDER / "outputs.npz")[0][1])
    assert result.report["cycles"] <= most
