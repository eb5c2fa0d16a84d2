"""Networks on hundreds of cores in tiles, bit for bit in every inference."""

from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.golden.deeploy_cases import BIT_EXACT
from tests.simulated.golden_cases import DATA, read_arrays
from tests.simulated.simulated_run import simulate

QUICK = ("Kernels/Integer/Add/Regular_RQ",)


@pytest.mark.parametrize(
    "name, soc",
    [
        ("dscnn", "minpool"),
        pytest.param("dscnn", "mempool", marks=pytest.mark.slow),
        pytest.param("resnet8", "mempool", marks=pytest.mark.slow),
        pytest.param("autoencoder", "mempool", marks=pytest.mark.slow),
        pytest.param("octave_head", "minpool", marks=pytest.mark.slow),
    ],
)
def test_networks_give_the_bits_of_the_host(name: str, soc: str) -> None:
    run = simulate(tvm_pulp.compile(f"zoo:{name}", target="c", soc=soc, planner="greedy"))
    host = tvm_pulp.compile(f"zoo:{name}", target="c", soc="host").run()
    for result, expected in zip(run.outputs, host.outputs.values(), strict=True):
        np.testing.assert_array_equal(result, expected)


def cases() -> list[Any]:
    """All golden networks; few of them in the default run."""
    return [pytest.param(c, id=c, marks=[] if c in QUICK else [pytest.mark.slow]) for c in BIT_EXACT]


@pytest.mark.parametrize("case", cases())
def test_golden_networks_are_bit_exact(golden_data: object, case: str) -> None:
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    app = tvm_pulp.compile(folder / "network.onnx", target="c", soc="mempool", sample_inputs=inputs)
    run = simulate(app, dict(inputs))
    for result, (_, golden) in zip(run.outputs, read_arrays(folder / "outputs.npz"), strict=True):
        np.testing.assert_array_equal(result, golden)
