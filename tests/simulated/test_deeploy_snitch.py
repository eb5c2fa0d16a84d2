"""Every integer network of Deeploy on the cores of the virtual Snitch cluster, bit for bit."""

from typing import Any

import pytest

import tvm_pulp
from tests.golden.deeploy_cases import BIT_EXACT
from tests.simulated.golden_cases import DATA, read_arrays
from tests.simulated.simulated_run import simulate

# The rest of the networks takes longer to simulate on cores that multiply once per cycle together.
QUICK = ("Kernels/Integer", "Kernels/Mixed", "Others", "Models/CNN_Linear1", "Models/miniMobileNet")


def cases() -> list[Any]:
    """All cases, the quick ones in the default run."""
    return [pytest.param(c, id=c, marks=[] if c.startswith(QUICK) else [pytest.mark.slow]) for c in BIT_EXACT]


@pytest.mark.sample(9)
@pytest.mark.parametrize("case", cases())
def test_case_is_bit_exact_on_the_cores(golden_data: object, case: str) -> None:
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    app = tvm_pulp.compile(folder / "network.onnx", target="c", soc="snitch-ita", sample_inputs=inputs)
    run = simulate(app, dict(inputs))
    expected = [array for _, array in read_arrays(folder / "outputs.npz")]
    assert len(run.outputs) == len(expected)
    for result, golden in zip(run.outputs, expected, strict=True):
        assert result.shape == golden.shape
        assert (result == golden).all()
