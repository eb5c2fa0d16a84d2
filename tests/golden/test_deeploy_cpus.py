"""Deeploy's golden networks and MLPerf Tiny's on CPUs with blocked kernels: one test each."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.golden.deeploy_cases import CASES, read_case
from tests.schedules.cpu.test_layers_on_cores import EMULATED, skip_without
from tvm_pulp import soc as socs

SOCS = ("cortex-m4", *EMULATED, "x86-64-vnni")


def emulator_of(soc: str) -> str:
    """The device that every machine has for a SoC."""
    cpu = socs.load(soc).cpu
    assert cpu is not None
    return next(iter(cpu.devices))


@pytest.mark.slow
@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", CASES)
def test_network(golden_data: Path, name: str, soc: str) -> None:
    skip_without(soc)
    case = read_case(golden_data, name)
    app = tvm_pulp.compile(case.network, sample_inputs=case.inputs, soc=soc)
    case.check(list(app.run(dict(case.inputs), device=emulator_of(soc)).outputs.values()))


@pytest.mark.slow
@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("network", ["kws", "resnet", "toycar", "vww"])
def test_networks_of_the_benchmark_are_exact(golden_data: Path, network: str, soc: str) -> None:
    skip_without(soc)
    folder = golden_data / "mlperf_tiny" / network
    app = tvm_pulp.compile(folder / "model.tflite", soc=soc)
    with np.load(folder / "golden.npz") as golden:
        for given, expected in zip(golden["inputs"], golden["outputs_reference"], strict=True):
            [made] = app.run([given], device=emulator_of(soc)).outputs.values()
            np.testing.assert_array_equal(made.reshape(-1), expected.reshape(-1))
